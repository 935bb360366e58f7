"""Configuration: what an operator writes, and what it says when that is wrong."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import pytest

from gateway.config import Config, Upstream, load, parse, read_yaml
from gateway.errors import ConfigError


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("server:\n  port: many\n", 2, "a whole number"),
        ("server:\n  port: true\n", 2, "a whole number"),
        ("server:\n  prot: 1\n", 2, "unknown key 'prot'"),
        ("rewriting: yes\n", 1, "must be a section"),
        ("upstreams:\n  - url: http://x/v1\n", 2, "lacks 'name'"),
        ("upstreams:\n  - name: a\n    via: carrier pigeon\n", 3, "must be one of"),
        ("rules:\n  critical: sometimes\n", 2, "'unchanged', 'guarded'"),
        ("server:\n  host: [a]\n", 2, "must be text"),
        ("server: {port: 1\nrules: 2", 2, "not YAML"),
        ("evolution:\n  batch_tasks: 0\n", 2, "batch_tasks must be at least 1"),
        ("evolution:\n  canary_share: 7\n", 2, "canary_share must be from 0 to 1"),
        ("memory:\n  inject: everything\n", 2, "'off', 'index'"),
    ],
    ids=["a word for a number", "a truth for a number", "an unknown key", "a scalar for a section", "a missing name",
         "an unknown way", "an unknown mode", "a list for a text", "broken YAML",
         "a count of nought", "a share above one", "an unknown way to inject"],
)  # fmt: skip
def test_an_error_names_the_line_and_the_remedy(text: str, line: int, words: str) -> None:
    """The operator is told where to look and what to write."""
    with pytest.raises(ConfigError) as error:
        parse(text)

    assert f"line {line}" in error.value.message
    assert words in error.value.message


UPSTREAM = "upstreams:\n  - name: a\n    url: http://x/v1\n"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        pytest.param("? [a, b]\n: 1\n", 1, "unknown key", id="a list for a key"),
        pytest.param("server:\n  port: !!python/name:os.system\n", 2, "a whole number", id="a tag of another program"),
        pytest.param("server:\n  port: !!int many\n", 2, "a whole number", id="a word under the tag of a number"),
        pytest.param("server:\n  port: 99999\n", 2, "at most 65535", id="a port that is none"),
        pytest.param("server:\n  port: -1\n", 2, "0 or more", id="a port below nought"),
        pytest.param("server:\n  connect_seconds: .nan\n", 2, "0 or more", id="a number that is none"),
        pytest.param("server:\n  read_seconds: .inf\n", 2, "0 or more", id="no number that can be waited for"),
        pytest.param("server:\n  max_body_mb: 0\n", 2, "more than 0", id="a limit that lets nothing in"),
        pytest.param("server:\n  connect_seconds: 0\n", 2, "more than 0", id="no time at all"),
        pytest.param("store:\n  queue: 0\n", 2, "at least 1", id="a queue without a place"),
        pytest.param("server: {}\nstore: {}\nserver: {}\n", 3, "stands twice", id="a section twice"),
        pytest.param(f"{UPSTREAM}    url: http://y/v1\n", 4, "stands twice", id="a key twice"),
        pytest.param(UPSTREAM.replace("http:", "http"), 2, "needs a url", id="a url without a scheme"),
        pytest.param(UPSTREAM.replace("x/v1", ""), 2, "needs a url", id="a url without a host"),
        pytest.param(UPSTREAM.replace("x", "x:99999"), 2, "needs a url", id="a url with an impossible port"),
        pytest.param(UPSTREAM.replace("x", "x y"), 2, "needs a url", id="a url with a blank"),
        pytest.param(UPSTREAM.replace("v1", "v1?a=b"), 2, "needs a url", id="a url with a query"),
        pytest.param(UPSTREAM.replace("http://x", "http://["), 2, "needs a url", id="a url that is broken"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(text: str, line: int, words: str) -> None:
    """Before anything is served with it."""
    test_an_error_names_the_line_and_the_remedy(text, line, words)


@pytest.mark.parametrize(
    "text",
    [
        f"{UPSTREAM}    key_env: sk-proj-1a2b\n",
        "clients:\n  - {name: a, key_env: sk-proj-1a2b}\n",
        "proposer:\n  key_env: sk-proj-1a2b\n",
    ],
    ids=["of an upstream", "of a client", "of the proposer"],
)
def test_a_key_in_the_place_of_its_variable_is_refused_without_being_said_again(text: str) -> None:
    """Errors are logged, and told to clients."""
    with pytest.raises(ConfigError, match="name of an environment variable") as error:
        parse(text)
    assert "1a2b" not in error.value.message


@pytest.mark.parametrize(
    "url",
    ["http://svc:S3cret@h/v1", "http://S3cret@h/v1", "HTTPS://:S3cret@h", "svc:S3cret@h/v1", "http://svc:p@S3cret@h"],
    ids=["user and password", "a user", "a password", "no scheme", "a password with the sign"],
)
def test_a_login_in_a_url_is_refused_without_being_said_again(url: str, tmp_path: Path) -> None:
    """With a client's key beside it no request would get through, wherever the url comes from."""
    file = tmp_path / "config.yaml"
    file.write_text(UPSTREAM.replace("http://x/v1", url))
    for load_it, where in (
        (partial(load, file), f"{file}, line 2: upstreams[0]: "),
        (partial(load, None, upstream=url), "--upstream: "),
        (partial(load, None, first=(Upstream(name=url, url=url),)), "where the agent's own settings lead: "),
    ):
        with pytest.raises(ConfigError) as error:
            load_it()
        assert error.value.message.startswith(f"{where}leave user and password out of the url")
        assert "key_env" in error.value.message
        assert "S3cret" not in error.value.message


@pytest.mark.parametrize("url", ["http://h/v1/@x", "http://h:1/a@b/v1", "http://[::1]:8/v1"])
def test_what_only_looks_like_a_login_is_taken(url: str) -> None:
    """A path may hold the sign."""
    assert parse(UPSTREAM.replace("http://x/v1", url)).upstreams[0].url == url
    assert load(None, upstream=url).upstreams[0].url == url


@pytest.mark.parametrize("url", ["host/v1", "ftp://host/v1", "http://", "http://h/v1?a=b"])
def test_an_upstream_on_the_command_line_is_looked_at_as_one_in_the_file(url: str) -> None:
    """What cannot be meant is refused before anything is served with it."""
    with pytest.raises(ConfigError, match="--upstream: needs a url"):
        load(None, upstream=url)


def test_a_section_under_which_there_are_comments_only_is_as_if_it_were_not_there() -> None:
    """So is a key without a value."""
    assert parse("server:\n  # port: 1\nupstreams:\nstore:\n  queue:\n") == Config()


def test_a_passthrough_upstream_needs_a_url() -> None:
    """Otherwise every request would fail later, and less clearly."""
    with pytest.raises(ConfigError, match="needs a url"):
        parse("upstreams:\n  - name: a\n")


def test_a_file_that_is_not_there_is_named() -> None:
    """With the option that names another."""
    with pytest.raises(ConfigError, match="--config"):
        load(Path("nowhere.yaml"))


def test_an_empty_file_gives_the_defaults() -> None:
    """Nothing has to be written down."""
    assert parse("") == parse("# nothing\n") == Config()


def test_an_upstream_on_the_command_line_replaces_those_in_the_file() -> None:
    """One URL is all that a person has to know."""
    config = load(None, upstream="http://127.0.0.1:9/v1/")

    assert config.upstreams == (Upstream(name="upstream", url="http://127.0.0.1:9/v1", key_env="OPENAI_API_KEY"),)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ["own", "litellm", "anthropic", "openai"]),
        ("upstreams: [{name: a, url: http://file/v1}]", ["a"]),
    ],
    ids=["no upstream in the file", "one in the file"],
)
def test_what_an_agent_was_set_to_counts_only_where_the_file_names_nothing(
    text: str, names: list[str], tmp_path: Path
) -> None:
    """The operator's word is the stronger one."""
    file, own = tmp_path / "config.yaml", (Upstream(name="own", url="http://own/v1"),)
    file.write_text(text)

    assert [upstream.name for upstream in load(file, first=own).upstreams] == names
    assert [upstream.name for upstream in load(file, upstream="http://it/v1", first=own).upstreams] == ["upstream"]


@pytest.mark.parametrize("text", [None, "a: [", "- 1", "\x00"], ids=["none", "broken", "a list", "no text"])
def test_a_foreign_file_that_cannot_be_read_says_nothing(text: str | None, tmp_path: Path) -> None:
    """It is not ours to complain of."""
    if text is not None:
        (tmp_path / "f").write_text(text)

    assert read_yaml(tmp_path / "f") == {}


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("claude-opus-5", "https://api.anthropic.com/v1"),
        ("gpt-5.1", "https://api.openai.com/v1"),
        ("anthropic/claude-opus-5", ""),
    ],
    ids=["Anthropic's", "OpenAI's", "litellm's"],
)
def test_models_find_their_maker_without_a_configuration(model: str, url: str) -> None:
    """An agent of either API works as it did, with nothing written down."""
    ups = load(None).upstreams
    assert next(up.url for up in ups if any(fnmatchcase(model, pattern) for pattern in up.models)) == url


def test_the_shipped_file_is_valid_and_says_the_defaults() -> None:
    """`config.yaml` documents what happens without it."""
    shipped = parse(Path(__file__).parents[2].joinpath("config.yaml").read_text())

    assert shipped == load(None)


@pytest.mark.parametrize("text", ["", "memory:\n  inject: off\n", 'memory:\n  inject: "off"\n'])
def test_nothing_is_put_into_requests_unless_somebody_says_so(text: str) -> None:
    """`off` is a word here, though YAML takes it for a truth."""
    assert parse(text).memory.inject == "off"
    assert parse("memory:\n  inject: index\n").memory.inject == "index"
