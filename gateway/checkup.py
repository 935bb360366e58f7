"""What may be wrong with an installation: one check after the other, each with its remedy."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal
from urllib.error import HTTPError
from urllib.request import HTTPSHandler, ProxyHandler, build_opener

from gateway import running
from gateway.agents import AGENTS
from gateway.config import Config, Upstream, secret
from gateway.errors import ConfigError
from gateway.evolving.rules import all_live, read_pools
from gateway.network import proxy_to, trusted, unspoken_proxy
from gateway.pins import decode
from gateway.recording.prices import PriceBook
from gateway.recording.tokens import TokenCounter
from gateway.serving import listen, why_not
from memory import Archive, StoreError
from rules_engine import EngineError

MALICIOUS = frozenset({"1.82.7", "1.82.8"})
"""Versions of litellm that stole credentials."""
OLDEST_SQLITE = (3, 35, 0)
LEAST_FREE_MB = 500
PATIENCE = 3.0


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    state: Literal["ok", "note", "wrong"]
    what: str
    says: str
    """With the remedy, where something is wrong."""


def check_installation() -> Iterator[Finding]:
    """What was installed, whatever the configuration."""
    yield _check_litellm()
    yield _check_sqlite()
    if TokenCounter().approximate:
        yield Finding(
            "wrong", "tokens", "no vocabulary was found: counts are a quarter of the bytes; reinstall litellm"
        )
    else:
        yield Finding("ok", "tokens", "counted with o200k_base")
    if PriceBook().find("gpt-4o") is None:
        yield Finding("wrong", "prices", "the price map that comes with litellm was not found; reinstall litellm")
    else:
        yield Finding("ok", "prices", "price map found")


def check_agents() -> Finding:
    """Which agents `run` knows and could start here."""
    found = [name for name in AGENTS if shutil.which(name)]
    if not found:
        return Finding(
            "note", "agents", "none that `run` knows is on the PATH; point any other at what `taco-gateway up` prints"
        )
    return Finding("ok", "agents", f"{', '.join(found)}: `taco-gateway run -- {found[0]}`")


def _check_litellm() -> Finding:
    try:
        version = metadata.version("litellm")
    except metadata.PackageNotFoundError:
        return Finding("wrong", "litellm", "not installed; run: pip install --upgrade taco-gateway")
    if version in MALICIOUS:
        return Finding(
            "wrong", "litellm", f"{version} is malicious: uninstall it now and renew every key on this machine"
        )
    return Finding("ok", "litellm", version)


def _check_sqlite() -> Finding:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        return Finding(
            "wrong", "sqlite", f"{sqlite3.sqlite_version} is too old; use a Python built with {wanted} or newer"
        )
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute("CREATE VIRTUAL TABLE words USING fts5 (word)")
        except sqlite3.OperationalError:
            return Finding("wrong", "sqlite", f"{sqlite3.sqlite_version} lacks FTS5; use a Python built with it")
    return Finding("ok", "sqlite", f"{sqlite3.sqlite_version} with FTS5")


def check_folder(data: Path) -> Iterator[Finding]:
    """Whether the data folder can be used."""
    if not data.exists():
        yield Finding("note", "data", f"{data} is not there yet; it is made when it is needed")
        return
    if not data.is_dir() or not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        yield Finding("wrong", "data", f"{data} is no folder that can be written; pass another with --data")
        return
    yield Finding("ok", "data", str(data))
    free = shutil.disk_usage(data).free >> 20
    enough = free >= LEAST_FREE_MB
    yield Finding(
        "ok" if enough else "wrong", "disk", f"{free:,} MB free" + ("" if enough else "; make room, or move --data")
    )
    yield _check_wal(data)


def _check_wal(data: Path) -> Finding:
    trial = data / f"trial-{os.getpid()}.sqlite"
    try:
        with closing(sqlite3.connect(trial)) as database:
            ((mode,),) = database.execute("PRAGMA journal_mode=WAL")
    except sqlite3.Error as error:
        mode = str(error)
    finally:
        trial.unlink(missing_ok=True)
    if mode == "wal":
        return Finding("ok", "store", "the folder can hold databases with a write-ahead log")
    return Finding("wrong", "store", f"no write-ahead log is possible here ({mode}); pass a folder on a local disk")


def check_pins(data: Path) -> Finding:
    """Whether every pinned decision can be replayed."""
    path = data / "decisions.sqlite"
    if not path.exists():
        return Finding("ok", "decisions", "none yet")
    count = unreadable = 0
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            for key, value in database.execute("SELECT key, value FROM decisions"):
                count += 1
                unreadable += not _is_readable(key, value)
    except sqlite3.Error as error:
        return Finding("wrong", "decisions", f"{path}: {error}; restore it from a backup, or move it away")
    if unreadable:
        return Finding("wrong", "decisions", f"{unreadable} of {count} cannot be read; run the version that wrote them")
    return Finding("ok", "decisions", f"{count:,} pinned, all can be replayed")


def _is_readable(key: str, value: bytes) -> bool:
    try:
        decode(key, value)
    except (EngineError, ValueError, KeyError):
        return False
    return True


async def check_archive(data: Path) -> Finding:
    """Whether the archive is as it was recorded."""
    if not (data / "archive.sqlite").exists():
        return Finding("ok", "archive", "nothing recorded yet")
    try:
        archive = await Archive.open(data)
        try:
            report = await archive.verify()
        finally:
            await archive.aclose()
    except StoreError as error:
        return Finding("wrong", "archive", str(error))
    if report.problems:
        return Finding(
            "wrong", "archive", f"{report.problems[0]}; `taco-gateway audit verify` shows all {len(report.problems)}"
        )
    return Finding(
        "ok", "archive", f"{report.rewrites:,} rewrites and {report.messages:,} messages as they were recorded"
    )


async def check_rules(config: Config, data: Path) -> Finding:
    """Whether the rules can be read."""
    try:
        live = all_live(await read_pools(config, data), config).rules
    except (ConfigError, StoreError) as error:
        return Finding("wrong", "rules", str(error))
    return Finding("ok", "rules", f"{len(live)} in use")


def check_config(config: Config) -> Iterator[Finding]:
    """Whether what is configured is there."""
    for client in config.clients:
        if secret(client.key_env) is None:
            yield Finding("wrong", "client", f"{client.name}: {client.key_env} is not set, so it is not let in; set it")
    for upstream in config.upstreams:
        yield _check_key(upstream)
        if upstream.via == "passthrough":
            yield _check_upstream(upstream)


def _check_key(upstream: Upstream) -> Finding:
    if secret(upstream.key_env) is not None:
        return Finding("ok", "key", f"{upstream.name}: {upstream.key_env} is set")
    if upstream.via == "litellm":
        return Finding(
            "note", "key", f"{upstream.name}: litellm reads the variable of each provider, e.g. ANTHROPIC_API_KEY"
        )
    if upstream.client_key:
        return Finding("note", "key", f"{upstream.name}: no key here, so each client has to send its own")
    return Finding(
        "wrong", "key", f"{upstream.name}: {upstream.key_env or 'key_env'} is not set; set it, or client_key: true"
    )


def _check_upstream(upstream: Upstream) -> Finding:
    proxy = proxy_to(upstream.url)
    by = ProxyHandler({"http": proxy, "https": proxy} if proxy else {})
    try:
        build_opener(by, HTTPSHandler(context=trusted())).open(upstream.url, timeout=PATIENCE).close()
    except HTTPError as error:
        error.close()  # whatever it says, it is there
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", error)
        kind = unspoken_proxy(upstream.url)
        remedy = f"a {kind} proxy is passed over: set HTTPS_PROXY to one of HTTP" if kind else "check url and network"
        return Finding("wrong", "upstream", f"{upstream.name}: {upstream.url} cannot be reached: {why}; {remedy}")
    return Finding("ok", "upstream", f"{upstream.name}: {upstream.url} answers")


def check_gateway(config: Config, data: Path) -> Finding:
    """Whether a gateway serves, or could."""
    url = running.find(data)
    if url is not None:
        said = running.health(url) or {}
        state: Literal["ok", "wrong"] = "ok" if said.get("status") == "ok" else "wrong"
        return Finding(state, "gateway", f"serves at {url}, {said.get('status')} {said.get('problems') or ''}".rstrip())
    host, port = config.server.host, config.server.port
    try:
        listen(host, port).close()
    except OSError as error:
        return Finding(
            "wrong", "gateway", f"{host} port {port} cannot be had: {why_not(error)}; set server.host and server.port"
        )
    return Finding("note", "gateway", f"none serves now; {host} port {port} is free")
