"""What may not stand in an entry."""

from __future__ import annotations

import pytest

from memory.levels.values import odd_in, secrets_in, values_in, volatile_in


@pytest.mark.parametrize(
    "line",
    [
        "",
        "deploy_sop: deploying to staging",
        "use and/or, never either/or",
        "read src/app.py before tests/",
        "versions 3.11 and 1.2.3 are fine",
        "3 retries, then stop",
        "30 lines, 1024 bytes, 100 %",
        "ask before rm -rf",
        "ports are listed in L2",
        "the process is described below",
        "std::vector and key: value",
        "文件/路径 的规则",
        "部署 微信 支付",
        "the password is ref:DB_PASSWORD",
        "password rules are in L2",
    ],
)
def test_what_is_no_value_passes(line: str) -> None:
    """An index may name and forbid."""
    assert values_in(line) == ()


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("the server is 10.0.0.7", "an IP address"),
        ("数据库10.0.0.7", "an IP address"),
        ("１０.０.０.７ in wide digits", "an IP address"),
        ("listens on fe80::1ff:fe23:4567:890a", "an IP address"),
        ("localhost:8080", "a port"),
        ("port 8080", "a port"),
        ("Port: 443", "a port"),
        ("端口8080", "a port"),
        ("see /etc/hosts", "an absolute path"),
        ("/srv", "an absolute path"),
        ("看/etc/hosts", "an absolute path"),
        ("(~/notes)", "an absolute path"),
        (r"C:\Users", "an absolute path"),
        (r"\\server\share", "an absolute path"),
        ("https://example.org", "a URL"),
        ("on 2026-04-03", "a timestamp"),
        ("on 2026/4/3", "a timestamp"),
        ("在2026-04-03", "a timestamp"),
        ("at 20:13", "a timestamp"),
        ("at 20:13:07", "a timestamp"),
        ("20260403T201307", "a timestamp"),
        ("0403_2013-0403_2145", "a timestamp"),
        ("1775240000", "a timestamp"),
        ("1775240000123", "a timestamp"),
        ("PID 4711", "a process id"),
        ("pid=4711", "a process id"),
        ("process 4711", "a process id"),
        ("进程号 4711", "a process id"),
        ("123e4567-e89b-12d3-a456-426614174000", "a UUID"),
        ("123E4567E89B12D3A456426614174000", "a UUID"),
        ("key sk-proj-abcdefghijklmnop1234", "a secret"),
        ("password: hunter2", "a secret"),
        ("the api key is tomato", "a secret"),
        ("密码是 tomato", "a secret"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "a secret"),
    ],
)
def test_a_value_is_told_by_its_kind(line: str, kind: str) -> None:
    """So that the refusal can say what is wrong."""
    assert kind in values_in(line)


@pytest.mark.parametrize(
    "text",
    [
        "gpt-4o-2024-08-06 is served by openai",
        "postgres listens on 10.0.0.7:5432",
        "logs are in /var/log/app",
        "small takes at most 128000 tokens of context",
        "the suite needs python 3.11",
        "backups run daily",
        "the template lies in templates/",
    ],
)
def test_what_lasts_may_be_a_fact(text: str) -> None:
    """Addresses, paths, dates in names."""
    assert volatile_in(text) == ()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("started at 20:13:07", "a time of day"),
        ("started at 1775240000", "a time of day"),
        ("runs as pid 4711", "a process id"),
        ("in /tmp/build", "a passing path"),
        ("in /private/tmp/build", "a passing path"),
        ("in /var/folders/x", "a passing path"),
        ("session 123e4567-e89b-12d3-a456-426614174000", "a UUID"),
    ],
)
def test_what_does_not_last_is_told(text: str, kind: str) -> None:
    """It would be false tomorrow."""
    assert kind in volatile_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "password=ref:DB_PASSWORD",
        "export TOKEN=ref:CI_TOKEN",
        "api key: ref:OPENAI",
        "postgres://app:ref:DB_PASSWORD@db/app",
        "password: <blank>",
        "password: [redacted:password]",
        "token limit is 128000",
    ],
)
def test_a_reference_is_no_secret(text: str) -> None:
    """It names where the secret is kept."""
    assert secrets_in(text) == ()


@pytest.mark.parametrize(
    "text",
    ["password = ref:", "secret: reference", "TOKEN=ref:A-9f8e7d6c5b4a39281706f5e4", "password is ref:A-b"],
    ids=["no name", "a word that begins so", "more than a name", "a name that goes on"],
)
def test_what_only_looks_like_a_reference_is_judged_as_it_stands(text: str) -> None:
    """A secret does not hide behind the form."""
    assert secrets_in(text) == ("a secret",)


@pytest.mark.parametrize("text", ["a\x00", "a\rb", "a\u2028b", "a\x1b[1m", "a\ud800"])
def test_characters_that_nobody_sees_are_told(text: str) -> None:
    """A line that is two, or that cannot be written, must not pass for one."""
    assert odd_in(text)


@pytest.mark.parametrize("text", ["", "plain\ttext", "two\nlines", "微信", "naïve 🙂"])
def test_all_that_people_write_passes(text: str) -> None:
    """Tabs, breaks, all scripts."""
    assert odd_in(text) == ()
