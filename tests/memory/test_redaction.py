"""Secrets out, and nothing else."""

from __future__ import annotations

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import redaction
from memory.redaction import _sweep_strings, redact, redact_json, redact_record, redact_together

# Put together here, so that nothing that looks like a secret stands in the source.
ALNUM = "Zq3vT8mK1xR6bN4wL9cJ2hF7"
HEX = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
BASE64 = "Zq3vT8mK1xR6bN4wL9cJ2hF7/Yd5sGp0+QeUi3Ao"
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0In0" + ".dBjftJeZ4CVP" + "mB92K27uhbUJU1p1r"
PEM_BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nBKcwggSjAgEAAoIBAQDZq3vT8mK1xR6b\nN4wL9cJ2hF7=="
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{PEM_BODY}\n-----END RSA PRIVATE KEY-----"

GITHUB = "ghp_" + ALNUM + "0123456789AB"

# name → (text with a secret, the secret)
SECRETS = {
    "before a comma": ("the URL has access_token=" + ALNUM + "0k1, as it should", ALNUM),
    "OpenAI": ("key sk-" + ALNUM + " end", "sk-" + ALNUM),
    "OpenAI project": ("sk-proj-" + "Zq3_vT8-mK1" * 4, "Zq3_vT8-mK1"),
    "Anthropic": ("sk-ant-api03-" + "Zq3_vT8-mK1" * 4, "Zq3_vT8-mK1"),
    "OpenRouter": ("sk-or-v1-" + HEX + HEX, HEX),
    "GitHub": ("ghp_" + ALNUM + "0123456789AB", ALNUM),
    "GitHub OAuth": ("gho_" + ALNUM + "0123456789AB", ALNUM),
    "GitHub fine-grained": ("github_pat_11ABC_" + ALNUM, ALNUM),
    "GitLab": ("glpat-" + "Zq3vT8mK1xR6bN4wL9cJ", "Zq3vT8mK1xR6bN4wL9cJ"),
    "AWS key id": ("id AKIA" + "ZQ3VT8MK1XR6BN4W" + ".", "ZQ3VT8MK1XR6BN4W"),
    "AWS temporary": ("ASIA" + "ZQ3VT8MK1XR6BN4W", "ZQ3VT8MK1XR6BN4W"),
    "AWS pair": ("AKIA" + "ZQ3VT8MK1XR6BN4W" + "," + BASE64 + "\n", BASE64),
    "AWS secret": ("aws_secret_access_key = " + BASE64, BASE64),
    "Google": ("AIza" + ALNUM + "SyA_Bc-DeFg", ALNUM),
    "Slack": ("xoxb" + "-123456789012-" + ALNUM, ALNUM),
    "Slack webhook": ("https://hooks.slack.com/services/" + "T0AB12CD3/B0EF45GH6/" + ALNUM, ALNUM),
    "npm": ("//registry.npmjs.org/:_authToken=npm_" + ALNUM + "0123456789AB", ALNUM),
    "PyPI": ("pypi-AgE" + "IcHlwaS5vcmc" + ALNUM, ALNUM),
    "Hugging Face": ("hf_" + "ZqvTmKxRbNwLcJhFYdsGpQeUiAoZqvTmKx", "ZqvTmKxRbNwLcJhF"),
    "Stripe": ("sk_live_" + ALNUM, ALNUM),
    "SendGrid": ("SG." + ALNUM + "." + ALNUM, ALNUM),
    "JWT": ("cookie " + JWT, JWT[-20:]),
    "private key": ("cat key.pem\n" + PEM + "\ndone", "N4wL9cJ2hF7"),
    "private key in a diff": ("+" + PEM.replace("\n", "\n+"), "N4wL9cJ2hF7"),
    "private key with line numbers": (
        "\n".join(f"{k:6}\t{line}" for k, line in enumerate(PEM.split("\n"), 1)),
        "BKcwggSjAgEAAoIBAQDZq3vT8mK1xR6b",
    ),
    "private key escaped": (PEM.replace("\n", "\\n"), "N4wL9cJ2hF7"),
    "private key cut off": (PEM[:80], PEM_BODY[:20]),
    "private key in base64": (
        "client-key-data: LS0tLS1CRUdJTi" + "BSU0EgUFJJVkFURSBLRVktLS0tLQpN" * 2,
        "BSU0EgUFJJVkFURSBLRVkt",
    ),
    "bearer": ("Authorization: Bearer " + "abcdefghijklmnop", "abcdefghijklmnop"),
    "bearer in curl": ("curl -H 'authorization: bearer " + ALNUM + "' http://x", ALNUM),
    "basic": ("> Authorization: Basic " + "YWRtaW46aHVudGVyMg==", "YWRtaW46aHVudGVyMg"),
    "header with a key": ("x-api-key: " + HEX, HEX),
    "cookie": ("< Set-Cookie: session=" + ALNUM + "; Path=/", ALNUM),
    "cookie in curl": ("curl -H 'Cookie: session=" + ALNUM + "' http://x", ALNUM),
    "environment": ("export DB_PASSWORD=hunter2\nexport A=1", "hunter2"),
    "environment, a word": ("MYSQL_ROOT_PASSWORD=supersecret", "supersecret"),
    "environment, quoted": ('SESSION_SECRET="shhh!"', "shhh!"),
    "YAML": ("db:\n  password: hunter2\n", "hunter2"),
    "INI": ("[db]\npassword = correct-horse-battery\n", "correct-horse-battery"),
    "JSON": ('{"user": "a", "password": "letmein", "n": 1}', "letmein"),
    "JSON in a string": ('"{\\"api_key\\": \\"letmein-now\\"}"', "letmein-now"),
    "PHP": ("'password' => 'letmein',", "letmein"),
    "XML": ("<password>letmein</password>", "letmein"),
    "option": ("deploy --password hunter2 --yes", "hunter2"),
    "curl user": ("curl -u admin:hunter2 https://example.org", "hunter2"),
    "netrc": ("machine example.org login me password hunter2", "hunter2"),
    "URL with a password": ("postgres://user:p4ss%40word@db:5432/x", "p4ss%40word"),
    "URL with a token": ("https://" + HEX + "@example.org/x.git", HEX),
    "connection string": ("Server=db;User Id=sa;Password=hunter2;Encrypt=yes", "hunter2"),
    "storage account": ("AccountName=x;AccountKey=" + BASE64 + BASE64 + "==;", BASE64),
    "query": ("GET /v1?api_key=" + HEX + "&page=2", HEX),
    "prose": ("The API key is " + HEX + ".", HEX),
    "private key by a search": (
        "\n".join(f"certs/a.pem:{k}:{line}" for k, line in enumerate(PEM.split("\n"), 1)),
        "BKcwggSjAgEAAoIBAQDZq3vT8mK1xR6b",
    ),
    "the end of a private key": (PEM_BODY[33:65] + "\n-----END RSA PRIVATE KEY-----", PEM_BODY[40:60]),
    "curl over two lines": ("curl https://example.org/v1 \\\n  -u admin:hunter2", "hunter2"),
    "cookie of curl": ('curl -b "session=' + ALNUM + '" https://example.org', ALNUM),
    "cookie without a blank": ("< Set-Cookie:session=" + ALNUM, ALNUM),
    "name and value in YAML": ("env:\n  - name: DB_PASSWORD\n    value: " + ALNUM, ALNUM),
    "name and value in JSON": ('{"environment": [{"name": "DB_PASSWORD", "value": "' + ALNUM + '"}]}', ALNUM),
    "environment, a token by another name": ("AZURE_DEVOPS_EXT_PAT=" + ALNUM + "\nDB_PW=x", ALNUM),
    "environment, in base64": ("APP_KEY=base64:" + ALNUM + "=", ALNUM),
    "SQL": ("CREATE ROLE app LOGIN PASSWORD 'hunter2-horse';", "hunter2-horse"),
    "SQL of MySQL": ("CREATE USER a IDENTIFIED BY 'hunter2-horse';", "hunter2-horse"),
    "docker login": ("docker login -u me -p " + ALNUM + " registry.example.org", ALNUM),
    "redis": ("redis-cli -a " + ALNUM + " ping", ALNUM),
}

LONG = ALNUM * 3
for token in (
    *("gsk_" + LONG, "xai-" + LONG, "pplx-" + LONG, "r8_" + LONG, "tvly-" + LONG, "dapi" + HEX, "dop_v1_" + HEX * 2),
    *("dckr_pat_" + LONG, "sbp_" + HEX + HEX[:8], "shpat_" + HEX, "hvs." + LONG, "glsa_" + LONG, "sntrys_" + LONG),
    *("ATATT3" + LONG, "lin_api_" + LONG, "ntn_" + LONG, "AGE-SECRET-KEY-1" + LONG.upper(), "GOCSPX-" + LONG),
    *("ya29." + LONG, "123456789:AA" + LONG[:33], "SK" + HEX, "whsec_" + LONG, "rk_live_" + LONG, "gldt-" + LONG),
    *("discord.com/api/webhooks/123456/" + LONG, "xapp" + "-1-A0B-" + LONG, "xoxc" + "-" + LONG, "xoxd" + "-" + LONG),
    *("nvapi-" + LONG, "tgp_v1_" + LONG, "csk-" + LONG, "lsv2_pt_" + HEX + "_0123456789", "sb_secret_" + LONG),
    *("HRKU-" + LONG, "ATBB" + LONG, "ATCTT3" + LONG, LONG[:14] + ".atlasv1." + LONG, "lin_oauth_" + HEX * 2),
    *("secret_" + LONG[:43], "pat" + LONG[:14] + "." + HEX * 2, "Zq38Q~" + LONG[:34], "key-" + HEX, HEX + "-us12"),
    *("M" + ALNUM + ".Zq3vT8." + LONG[:38], "AQ.Ab8RN6" + LONG),
):
    SECRETS["token " + token[:8]] = ("x " + token, token[-20:])

HARMLESS = {
    "where a shell stands": "HOSTNAME=a1\nPWD=/srv/my-shop-2\nOLDPWD=/app\n",
    "code that negates": "RedactSecrets: !noRedactSecrets in its options",
    "code that may find nothing": "const apiKey = config?.data_?.API_KEY || other",
    "a message for what is missing": ': "${APP_PASSWORD:?Set APP_PASSWORD before}"',
    "an argument": "load(token=tokenizer_v2_large, path=path)",
    "words": "The token is refreshed when the password changes.",
    "token counts": "max_tokens: 4096, input_tokens=12345678901234567890",
    "code that reads one": 'password = os.environ["DB_PASSWORD"]',
    "code that calls": "token = get_token()\napi_key = settings.api_key\nsecret = self.secret",
    "signature": "def login(user: str, password: str, token: str | None = None) -> None:",
    "keyword": "connect(user=user, password=password, token=token)",
    "types": "interface A {\n  privateKey: Uint8Array\n  password: string;\n  token?: string\n}",
    "references": "PASSWORD=$DB_PASSWORD\nTOKEN=${{ secrets.TOKEN }}\npassword: <your password>\napi_key: ***",
    "test results": "--- PASS: TestModExp/eip_example1-Gas=13056 (0.00s)\nPASS: keeps_h1_tags_of_2026",
    "class names": 'class="sk-estimator-doc-link fitted sk-toggleable__control"',
    "hashes": "commit 9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c",
    "versions": "glibc-2.31-13+deb11u5.x86_64 and npm_config_registry=https://registry.example.org",
    "link with a port": "http://localhost:8080/a@b and git@github.com:owner/repo.git",
    "empty key": "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
    "schema": '{"password": {"type": "string", "description": "The password to use"}}',
    "label": '{"password": "Password", "token": "token"}',
    "a name and what stands for it": "inputs:\n  - name: token\n    value: ${{ secrets.TOKEN }}\n  - name: api_key\n    type: string",
    "patterns and globs": "glob_pat = '*.py'\nGLOB_PAT=*.py\ncookie: true\nkey-1, key-2, us-east-1",
    "queries": "SELECT password FROM users WHERE name = 'anna' AND password IS NOT NULL",
    "objects by their paths": "Model.fields.related_objects_by_their_own_names.values and M1.module.forward_of_everything_there",
    "short flags": "the --api-key flag and the --cloud-token flag; adduser --disabled-password --gecos x",
}


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_harmless_text_stays(text: str) -> None:
    """What is no secret stays byte for byte."""
    assert redact(text) == text
    assert redact_json(json.dumps(text).encode()) == json.dumps(text).encode()


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_secret_goes(text: str, secret: str) -> None:
    """Every known form of a secret is replaced by a mark, once and for all."""
    assert secret in text
    redacted = redact(text)
    assert secret not in redacted
    assert "[redacted:" in redacted
    assert redact(redacted) == redacted


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
@pytest.mark.parametrize("depth", [1, 2])
def test_secret_in_json_goes(text: str, secret: str, depth: int) -> None:
    """In a message's JSON too, and in JSON within its strings; it stays JSON."""
    inner = json.dumps({"command": f"echo é\n{text}"}) if depth == 2 else text
    redacted = redact_json(json.dumps({"role": "user", "content": inner}).encode())
    content = json.loads(redacted)["content"]
    content = json.loads(content)["command"] if depth == 2 else content
    assert secret not in content
    assert "[redacted:" in content


@pytest.mark.parametrize("escape", ["\\u0068unter2", "h\\u0075nter2", "hun\\u0074er2"])
def test_escapes_hide_nothing(escape: str) -> None:
    """A secret that is written with escapes is seen as what it says."""
    data = b'{"content": "password=%s x"}' % escape.encode()
    assert json.loads(redact_json(data))["content"] == "password=[redacted:password] x"


def test_the_rest_of_the_json_stays() -> None:
    """Numbers, blanks, order, duplicate keys and other escapes stay as they were."""
    data = b'{ "b":1e2, "a":12345678901234567890123, "a":1.0, "x":"\\u00e9\\/", "password":"hunter2", "y":"\\ud800" }'
    assert redact_json(data) == data.replace(b"hunter2", b"[redacted:password]")


def test_nesting_that_no_reader_follows() -> None:
    """Its strings lose their secrets like any other."""
    data = b'{"password":"hunter2","x":' + b"[" * 50_000 + rb'"sk-\u0061' + ALNUM.encode() + b'"' + b"]" * 50_000 + b"}"
    redacted = redact_json(data)

    assert b"hunter2" not in redacted
    assert ALNUM.encode() not in redacted
    assert redacted.count(b"[" * 50_000) == redacted.count(b"]" * 50_000) == 1


@pytest.mark.parametrize("data", [b"", b"{not json", b"\xff\xfe", b'{"a": "\xff"}'], ids=repr)
def test_what_is_not_json_stays(data: bytes) -> None:
    """Bytes that are no JSON are no reason to fail."""
    assert redact_json(data) == data


def test_what_is_not_json_is_redacted_as_text() -> None:
    """A body that is cut off still loses its secrets."""
    assert redact_json(b'{"content": "sk-' + ALNUM.encode() + b" and") == b'{"content": "[redacted:api-key] and'


def test_lone_surrogates() -> None:
    """Text that no encoding takes is redacted all the same."""
    assert redact("\ud800 password=hunter2") == "\ud800 password=[redacted:password]"


def test_torn_secret() -> None:
    """A part of a key that was cut out of its block is recognised by its lines."""
    before = f"$ cat key\n{PEM}\n"
    omitted = PEM_BODY.split("\n")[1] + "\n"
    redacted = redact_together([before, before.replace(omitted, "[1 lines omitted]\n"), omitted, "plain"])
    assert not any(line in text for text in redacted for line in PEM_BODY.split("\n"))
    assert redacted[2:] == ["[redacted:fragment]\n", "plain"]


@given(
    st.lists(st.sampled_from([*SECRETS.values(), *((text, "") for text in HARMLESS.values())]), max_size=4), st.data()
)
def test_together(found: list[tuple[str, str]], data: st.DataObject) -> None:
    """Whatever stands beside them, secrets go, and what is redacted stays as it is."""
    glue = st.sampled_from(["\n", "\n\n", " \n", "\n# "])
    text = "".join(part for text, _ in found for part in (text, data.draw(glue)))
    redacted = redact(text)
    assert not any(secret and secret in redacted for _, secret in found)
    assert redact(redacted) == redacted
    wrapped = redact_json(json.dumps({"content": text}).encode())
    assert redact_json(wrapped) == wrapped


@given(st.text(alphabet=st.sampled_from('password=token:"\\n sk-0Aa{}[],@/'), max_size=60))
def test_any_text(text: str) -> None:
    """Redaction never fails, is idempotent, and keeps JSON what it is."""
    redacted = redact(text)
    assert redact(redacted) == redacted
    wrapped = redact_json(json.dumps([text, {text: text}]).encode())
    assert redact_json(wrapped) == wrapped
    assert len(json.loads(wrapped)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "a" * 300_000,
        "sk-" * 100_000,
        "password=" * 30_000,
        "://" * 100_000,
        "eyJ." * 70_000,
        "-----BEGIN PRIVATE KEY-----" * 10_000,
    ],
    ids=["one word", "prefixes", "names", "links", "dots", "headers"],
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    """No text makes redaction stand still."""
    began = time.process_time()
    redact(text)
    assert time.process_time() - began < 5


def test_record(chain, record, rewrite, signal) -> None:  # type: ignore[no-untyped-def]
    """Every text of a record is redacted, and nothing else of it."""
    dirty, clean = "password=hunter2", "password=[redacted:password]"
    (message,) = chain(dirty)
    made = record(
        "1",
        [message],
        reply=message,
        error=dirty,
        path=f"/x?{dirty}",
        head=json.dumps({"user": dirty}).encode(),
        reported={"note": dirty},
        rewrites=(rewrite(dirty, after=dirty, command=dirty, omissions=(("abc123", dirty),)),),
    )
    redacted = redact_record(made)
    assert b"hunter2" not in repr(redacted).encode()
    assert redacted.rewrites[0] == rewrite(clean, after=clean, command=clean, omissions=(("abc123", clean),))
    assert redacted.messages[0].hash == message.hash
    assert redact_record(replace(redacted, redacted=False)) == redacted
    assert redact_record(record("2", chain("plain"), signals=(signal,))) == record(
        "2", chain("plain"), signals=(signal,)
    )


_PIECES = (
    "pass",
    "word",
    "api",
    "_key",
    "sk-",
    "a1b2c3d4e5f6g7h8i9j0k1l2",
    "\\",
    "/",
    ":",
    "=",
    '"',
    "\n",
    "x",
    " ",
    "é",
    "://u:pw12@h",
)


@given(
    st.lists(st.sampled_from(_PIECES), max_size=8), st.lists(st.sampled_from(_PIECES), max_size=8), st.integers(0, 3)
)
def test_the_quick_way_past_a_text_gives_what_the_long_way_gives(name: list[str], value: list[str], depth: int) -> None:
    """However often the secret is written as JSON in JSON, and with characters escaped."""
    data = json.dumps({"".join(name): "".join(value), "n": 1})
    for _ in range(depth):
        data = json.dumps([data])
    for written in (data.encode(), data.replace("a", "\\u0061").encode(), data.replace("/", "\\/").encode()):
        assert redact_json(written) == _sweep_strings(written)


@pytest.mark.parametrize("name", sorted(redaction._COUNTS))
def test_the_names_of_a_usage_object_hold_no_secret(name: str) -> None:
    """So numbers under them are left as they are, unread."""
    usage = json.dumps({name: {name: 12}}).encode()

    assert redact_json(usage) == usage


@pytest.mark.parametrize(
    "usage",
    [
        pytest.param({"note": f"key {GITHUB}"}, id="in a text"),
        pytest.param({"prompt_tokens": GITHUB}, id="in the place of a number"),
        pytest.param({"prompt_tokens_details": {"cached_tokens": 1, "x": [GITHUB]}}, id="in a list"),
        pytest.param({GITHUB: 1}, id="as a name"),
    ],
)
def test_a_secret_in_a_usage_object_goes(record, usage: dict[str, object]) -> None:  # type: ignore[no-untyped-def]
    """Whatever a provider reports is stored."""
    reported = redact_record(record("1", reported={"total_tokens": 1, **usage})).reported

    assert GITHUB not in json.dumps(reported)
    assert reported["total_tokens"] == 1


def test_a_record_is_redacted_once(record) -> None:  # type: ignore[no-untyped-def]
    """The archive and the raw log are given the same."""
    made = redact_record(record("1"))

    assert redact_record(made) is made
