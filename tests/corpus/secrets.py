"""Forms in which secrets are written, each with a secret made up for it: none was ever anybody's."""

from __future__ import annotations

import base64
import json
import string
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

DIGITS, HEX = string.digits, "0123456789abcdef"
ALNUM = string.ascii_letters + DIGITS
UPPER = string.ascii_uppercase + DIGITS
B64 = ALNUM + "+/"
URL = ALNUM + "-_"
SHELL = ALNUM + "%^-_="


@dataclass(frozen=True, slots=True)
class Form:
    """A line as it stands in outputs, and the parts of it that nobody may find anywhere."""

    name: str
    line: str
    secrets: tuple[str, ...]


TOKENS = (
    # name, how it begins, alphabet, length
    ("OpenAI project key", "sk-" + "proj-", URL, 48),
    ("OpenAI key of the old form", "sk-", ALNUM, 48),
    ("OpenAI service account", "sk-" + "svcacct-", URL, 48),
    ("Anthropic key", "sk-" + "ant-api03-", URL, 90),
    ("OpenRouter key", "sk-" + "or-v1-", HEX, 64),
    ("Google key", "AI" + "za", URL, 35),
    ("Google access token", "ya" + "29.", URL, 80),
    ("Google client secret", "GOC" + "SPX-", URL, 28),
    ("GitHub personal token", "gh" + "p_", ALNUM, 36),
    ("GitHub app token", "gh" + "o_", ALNUM, 36),
    ("GitHub server token", "gh" + "s_", ALNUM, 36),
    ("GitHub user token", "gh" + "u_", ALNUM, 36),
    ("GitHub refresh token", "gh" + "r_", ALNUM, 36),
    ("GitHub fine-grained token", "github_" + "pat_", ALNUM, 60),
    ("GitLab personal token", "gl" + "pat-", URL, 20),
    ("GitLab runner token", "gl" + "rt-", URL, 20),
    ("GitLab job token", "gl" + "cbt-", URL, 24),
    ("Slack bot token", "xo" + "xb-", DIGITS, 36),
    ("Slack user token", "xo" + "xp-", ALNUM, 40),
    ("Slack app token", "xa" + "pp-1-", UPPER, 40),
    ("AWS key id", "AK" + "IA", UPPER, 16),
    ("AWS session key id", "AS" + "IA", UPPER, 16),
    ("Stripe key", "sk_" + "live_", ALNUM, 24),
    ("Stripe restricted key", "rk_" + "live_", ALNUM, 24),
    ("Stripe webhook key", "wh" + "sec_", ALNUM, 32),
    ("npm token", "npm" + "_", ALNUM, 36),
    ("PyPI token", "pypi-" + "AgEIcHlwaS5vcmc", URL, 70),
    ("Hugging Face token", "hf" + "_", ALNUM, 34),
    ("Groq key", "gs" + "k_", ALNUM, 52),
    ("xAI key", "xa" + "i-", ALNUM, 80),
    ("Perplexity key", "ppl" + "x-", ALNUM, 48),
    ("Replicate token", "r" + "8_", ALNUM, 37),
    ("Tavily key", "tv" + "ly-", ALNUM, 32),
    ("Databricks token", "da" + "pi", HEX, 32),
    ("DigitalOcean token", "do" + "p_v1_", HEX, 64),
    ("Docker token", "dckr" + "_pat_", URL, 27),
    ("Supabase token", "sb" + "p_", HEX, 40),
    ("Shopify token", "shp" + "at_", HEX, 32),
    ("Vault token", "hv" + "s.", URL, 90),
    ("Grafana token", "gl" + "sa_", ALNUM, 41),
    ("Sentry token", "sntr" + "ys_", ALNUM, 60),
    ("Atlassian token", "ATA" + "TT3", URL, 60),
    ("Linear key", "lin" + "_api_", ALNUM, 40),
    ("Notion token", "nt" + "n_", ALNUM, 46),
    ("age key", "AGE-" + "SECRET-KEY-1", UPPER, 58),
    ("Twilio key", "S" + "K", HEX, 32),
    ("Figma token", "fig" + "d_", URL, 40),
    ("Postman key", "PM" + "AK-", HEX, 58),
    ("New Relic key", "NR" + "AK-", UPPER, 27),
    ("RubyGems key", "ruby" + "gems_", HEX, 48),
    ("Doppler token", "dp" + ".pt.", ALNUM, 43),
    ("Pulumi token", "pu" + "l-", HEX, 40),
    ("PlanetScale password", "pscale_" + "pw_", URL, 43),
    ("Square token", "sq0" + "atp-", URL, 22),
)

LINES = (
    # name, line with {} in the place of the secret, alphabet, length
    ("environment: token", "DEPLOY_TOKEN={}", URL, 24),
    ("environment: password", "DB_PASSWORD={}", SHELL, 16),
    ("environment: AWS secret", "AWS_SECRET_ACCESS_KEY={}", B64, 40),
    ("environment: key of a vendor without a form", "DATADOG_API_KEY={}", HEX, 32),
    ("environment: exported", "export SESSION_SECRET={}", HEX, 48),
    ("environment: of a container", "docker run -e API_TOKEN={} app", ALNUM, 32),
    ("PowerShell", '$env:SERVICE_API_KEY = "{}"', ALNUM, 30),
    ("JSON", '{{"api_key": "{}", "user": "ada"}}', ALNUM, 32),
    ("JSON of a cloud", '{{"SecretAccessKey": "{}"}}', B64, 40),
    ("YAML", 'password: "{}"', SHELL, 14),
    ("TOML", 'secret_key = "{}"', ALNUM, 40),
    ("Python", "client_secret = '{}'", ALNUM, 34),
    ("XML", "<password>{}</password>", ALNUM, 14),
    ("prose", "The API key is {} and works on all hosts.", ALNUM, 28),
    ("bearer header", "Authorization: Bearer {}", URL, 40),
    ("basic header", "Authorization: Basic {}", ALNUM, 32),
    ("token header", '-H "Authorization: token {}"', ALNUM, 40),
    ("key header", "X-Api-Key: {}", ALNUM, 32),
    ("cookie header", "Cookie: sid={}", ALNUM, 32),
    ("curl", "curl -u ada:{} https://api.test/v1", ALNUM, 18),
    ("URL of a database", "postgres://ada:{}@db.test:5432/shop", ALNUM, 20),
    ("URL without a user", "redis://:{}@cache.test:6379/0", ALNUM, 20),
    ("URL with a token for a user", "git clone https://{}@git.test/shop.git", ALNUM, 40),
    ("URL: query", "GET https://api.test/v1/items?page=2&access_token={}", ALNUM, 40),
    ("URL: key in a query", "wget 'https://maps.test/tile?api_key={}&z=3'", ALNUM, 32),
    ("Slack webhook", "https://hooks.slack.com/services/T01ABCDEF/B01ABCDEF/{}", ALNUM, 24),
    ("Discord webhook", "https://discord.com/api/webhooks/1234567890/{}", URL, 60),
    ("netrc", "machine git.test login ada password {}", ALNUM, 20),
    ("sshpass", "sshpass -p {} ssh ada@host.test", ALNUM, 14),
    ("mysql", "mysql -u ada -p{} shop", ALNUM, 14),
    ("option", "login --password {} --host h.test", ALNUM + "%^", 16),
    ("option with =", "deploy --api-key={} --to prod", ALNUM, 30),
    ("connection string", "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey={};", B64, 86),
    ("Docker's login", '{{"auths": {{"reg.test": {{"auth": "{}"}}}}}}', ALNUM, 40),
    ("Kubernetes", "    client-key-data: LS0tLS1CRUdJTi{}", B64, 120),
    ("signed URL", "https://store.test/a?X-Amz-Credential=x&X-Amz-Signature={}", HEX, 64),
    ("shared access", "https://store.test/a?sv=2024-01-01&sig={}%3D", ALNUM, 43),
)


def forms(seed: int = 4) -> Iterator[Form]:
    """All of them; the same for the same seed."""
    rng = Random(seed)
    for name, start, alphabet, length in TOKENS:
        secret = start + _chars(rng, alphabet, length)
        yield Form(name, f"found {secret} in the log", (secret,))
    for name, line, alphabet, length in LINES:
        secret = _chars(rng, alphabet, length)
        yield Form(name, line.format(secret), (secret,))
    yield from _keys(rng)
    yield _jwt(rng)
    grid = f"{'S'}G.{_chars(rng, URL, 22)}.{_chars(rng, URL, 43)}"
    yield Form("SendGrid key", f"found {grid} in the log", (grid,))
    bot = f"{_chars(rng, '123456789', 10)}:AA{_chars(rng, URL, 33)}"
    yield Form("Telegram bot", f"https://api.telegram.org/bot{bot}/getMe", (bot,))


def _keys(rng: Random) -> Iterator[Form]:
    for name, kind in (("RSA key", "RSA "), ("OpenSSH key", "OPENSSH "), ("EC key", "EC "), ("PKCS 8 key", "")):
        body = [_chars(rng, B64, 64) for _ in range(4)]
        text = "\n".join([f"-----BEGIN {kind}PRIVATE KEY-----", *body, f"-----END {kind}PRIVATE KEY-----"])
        yield Form(name, text, tuple(body))
        if name == "RSA key":
            yield Form("key in a diff", "\n".join(f"+{line}" for line in text.split("\n")), tuple(body))
            yield Form(
                "key with line numbers", "\n".join(f"{n:6}\t{x}" for n, x in enumerate(text.split("\n"))), tuple(body)
            )
            yield Form(
                "key in base64",
                base64.b64encode(text.encode()).decode(),
                (base64.b64encode(text.encode()).decode()[20:],),
            )
        if not kind:
            account = json.dumps({"type": "service_account", "private_key": text + "\n"})
            yield Form("service account", account, tuple(body))


def _jwt(rng: Random) -> Form:
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256"}, {"sub": "ada", "iat": 1})
    )
    signature = _chars(rng, URL, 43)
    return Form("JWT", f"id_token {head}.{body}.{signature}", (signature,))


def _chars(rng: Random, alphabet: str, length: int) -> str:
    """Random characters; the first and the last are letters or digits, and one is a digit."""
    plain = [c for c in alphabet if c.isalnum()]
    inner = "".join(rng.choice(alphabet) for _ in range(length - 3))
    return rng.choice(plain) + inner + rng.choice([c for c in plain if c.isdigit()]) + rng.choice(plain)
