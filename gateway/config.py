"""`config.yaml` and the environment → frozen dataclasses; an error names the line and what to write instead."""

from __future__ import annotations

import dataclasses
import math
import os
import re
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin
from urllib.parse import urlsplit

import yaml

from gateway.errors import ConfigError, said_by
from rules_engine import Settings
from rules_engine.evolution.numbers import Numbers

_VARIABLE = re.compile(r"[A-Za-z_]\w*")
_BLANK = re.compile(r"\s")
_LOGIN = re.compile(r"(\w+://)?[^/?#]*@")
_NO_LOGIN = (
    "leave user and password out of the url: they cannot go beside a key, and would be told in errors; "
    "the key comes with the client's requests, or from the variable that key_env names"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the gateway listens, and how much it takes."""

    host: str = "127.0.0.1"
    port: int = 8787
    max_body_mb: int = 256
    connect_seconds: float = 10.0
    read_seconds: float = 600.0
    """Longest silence of an upstream: reasoning models think for minutes."""
    admin_key_env: str = "TACO_ADMIN_KEY"
    """Variable with the key for `/_gateway`; without one only this machine is let in."""


Api = Literal["openai", "anthropic"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """One way to models."""

    name: str
    url: str = ""
    """Base URL with its version, as clients write it: ``https://host/v1``. Not for litellm."""
    via: Literal["passthrough", "litellm"] = "passthrough"
    models: tuple[str, ...] = ("*",)
    """Patterns with ``*``; the first upstream with a match serves the model."""
    api: Api = "openai"
    """Whose API it is: in which header a key goes, and whose clients it serves where a path names no model."""
    client_key: bool = True
    """Pass the client's own key on."""
    key_env: str = ""
    """Variable with the key to use where the client sends none (or where its own is not passed on)."""
    rewrite: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client that is let in; without a list everybody is."""

    name: str
    key_env: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewriting:
    """Whether and where tool results are rewritten."""

    enabled: bool = True
    tools_off: tuple[str, ...] = ()
    """Names of tools whose results stay as they are."""
    seed_rules: bool = True
    """The six starting rules."""
    shipped_rules: bool = True
    """The rules that were learned beforehand, and come with this package."""
    rules_file: str = ""
    """A rule pool in TACO's JSON to use besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """How long a request may wait for the store, and how much may wait for it."""

    decision_seconds: float = 1.0
    """Longest wait for a decision to be pinned; past it the text stays raw."""
    commit_seconds: float = 1.0
    """Longest wait for the commit, beside the upstream call, before the first byte goes to the client."""
    queue: int = 2000
    """Exchanges that may wait to be written; more go to the spill file."""
    decision_days: int = 90
    """Decisions that no request has used for more days are forgotten; 0 keeps them for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposer:
    """The model that proposes rules, beside the miner; without one nothing is asked."""

    model: str = ""
    """A name of litellm's, ``provider/model``."""
    url: str = ""
    key_env: str = ""
    """Variable with its key; for a model that needs none."""
    client_key: bool = False
    """Where there is no such key, use that of the client whose session asks."""
    daily_tokens: int = 200_000
    share: float = 0.02
    """Of all tokens of a day, and of a session, that it may cost (paper: under 2 %)."""
    reply_tokens: int = 2000
    """Longest answer."""
    timeout: float = 180.0
    """Seconds for an answer (code)."""
    retries: int = 2
    """Further attempts where none came (code)."""
    temperature: float = 0.7
    """Code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """The five levels of memory."""

    retain_days: float = 0.0
    """Sessions that ended so long ago are let go of after each archive run; 0 keeps them for ever."""
    retain_megabytes: float = 0.0
    """The oldest are let go of until the zips have this size; 0 sets no limit."""

    inject: Literal["off", "index"] = "off"
    """`index`: a new session's system text gets the rules' stub and the index, and keeps them to its end."""
    promote_sessions: int = 0
    """Sessions that have to show the same before a candidate becomes an entry by itself; 0: only a person promotes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """Everything that an operator may say."""

    server: Server = field(default_factory=Server)
    upstreams: tuple[Upstream, ...] = ()
    clients: tuple[Client, ...] = ()
    rewriting: Rewriting = field(default_factory=Rewriting)
    rules: Settings = field(default_factory=Settings)
    evolution: Numbers = field(default_factory=Numbers)
    store: Store = field(default_factory=Store)
    proposer: Proposer = field(default_factory=Proposer)
    memory: Memory = field(default_factory=Memory)


LITELLM = Upstream(name="litellm", via="litellm", models=("*/*",))
ANTHROPIC = Upstream(
    name="anthropic",
    url="https://api.anthropic.com/v1",
    models=("claude*",),
    api="anthropic",
    key_env="ANTHROPIC_API_KEY",
)
OPENAI = Upstream(name="openai", url="https://api.openai.com/v1", key_env="OPENAI_API_KEY")


def load(path: Path | None, *, upstream: str | None = None, first: tuple[Upstream, ...] = ()) -> Config:
    """The configuration in a file, or the defaults; `upstream` replaces the upstreams by one URL, and `first` come
    before the default ones where the file names none. Raises `ConfigError`."""
    config = parse(_read(path), str(path)) if path is not None else Config()
    if upstream is not None:
        return replace(config, upstreams=(_given(upstream),))
    if config.upstreams:
        return config
    if any(_LOGIN.match(own.url) for own in first):
        raise ConfigError(f"where the agent's own settings lead: {_NO_LOGIN}; or pass another address with --upstream")
    return replace(config, upstreams=(*first, LITELLM, ANTHROPIC, OPENAI))


def parse(text: str, name: str = "config.yaml") -> Config:
    """Read YAML. Raises `ConfigError` with file, line and remedy."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{name}{line}: not YAML: {getattr(error, 'problem', error)}; check indentation and quotes"
        ) from error
    if node is None:
        return Config()
    config: Config = _build(node, Config, name, "the file")
    return config


def read_yaml(path: Path) -> dict[str, Any]:
    """What stands in somebody else's file; nothing where there is none that can be read."""
    try:
        said = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return {}
    return said if isinstance(said, dict) else {}


def secret(variable: str) -> str | None:
    """The value of an environment variable that holds a key."""
    return os.environ.get(variable) or None if variable else None


def _given(url: str) -> Upstream:
    upstream = Upstream(name="upstream", url=url.rstrip("/"), key_env="OPENAI_API_KEY")
    try:
        _check(upstream)
    except ValueError as error:
        raise ConfigError(f"--upstream: {error}") from error
    return upstream


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {said_by(error)}; pass another file with --config") from error


def _build(node: yaml.Node, kind: Any, name: str, where: str) -> Any:
    line = f"{name}, line {node.start_mark.line + 1}"
    if dataclasses.is_dataclass(kind):
        return _record(node, kind, name, where, line)
    origin = get_origin(kind)
    if origin in (tuple, frozenset):
        if not isinstance(node, yaml.SequenceNode):
            raise ConfigError(f"{line}: {where} must be a list")
        built = [_build(item, get_args(kind)[0], name, f"{where}[{k}]") for k, item in enumerate(node.value)]
        return origin(built)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, kind, where, line)
    raise ConfigError(f"{line}: {where} must be {_named(kind)}, not a list or a section")


def _record(node: yaml.Node, kind: Any, name: str, where: str, line: str) -> Any:
    if not isinstance(node, yaml.MappingNode):
        raise ConfigError(f"{line}: {where} must be a section with keys")
    hints = _hints(kind)
    given: dict[str, Any] = {}
    for key, value in node.value:
        at = f"{name}, line {key.start_mark.line + 1}"
        if not isinstance(key, yaml.ScalarNode) or key.value not in hints:
            said = key.value if isinstance(key, yaml.ScalarNode) else "[…]"
            raise ConfigError(f"{at}: unknown key '{said}' in {where}; known: {', '.join(sorted(hints))}")
        if key.value in given:
            raise ConfigError(f"{at}: '{key.value}' stands twice in {where}; leave one of them")
        if value.tag == "tag:yaml.org,2002:null":
            continue  # all that stands under it is a comment, or nothing does
        given[key.value] = _build(
            value, hints[key.value], name, key.value if where == "the file" else f"{where}.{key.value}"
        )
    missing = [f.name for f in dataclasses.fields(kind) if _is_required(f) and f.name not in given]
    if missing:
        raise ConfigError(f"{line}: {where} lacks '{missing[0]}'")
    try:
        built = kind(**given)
        _check(built)
    except ValueError as error:
        raise ConfigError(f"{line}: {where}: {error}") from error
    return built


def _check(built: object) -> None:
    """Whether values that are of the right kind can be meant. Raises `ValueError`."""
    match built:
        case Server() if built.port > 65535 or not (built.max_body_mb and built.connect_seconds and built.read_seconds):
            raise ValueError("port must be at most 65535, max_body_mb and the seconds more than 0")
        case Store(queue=0):
            raise ValueError("queue must be at least 1")
        case Upstream(via="passthrough", url=url) if _LOGIN.match(url):  # a password is not said again
            raise ValueError(_NO_LOGIN)
        case Upstream(via="passthrough", url=url) if not _is_base(url):
            raise ValueError("needs a url that begins with http:// or https://, its /v1 included, as https://host/v1")
    variable = getattr(built, "key_env", "")
    if variable and not _VARIABLE.fullmatch(variable):  # it may be the key itself, so it is not said again
        raise ValueError("key_env must be the name of an environment variable that holds the key, not the key")


def _is_base(url: str) -> bool:
    try:
        at = urlsplit(url)
        found = at.scheme in ("http", "https") and bool(at.hostname) and (at.port or 1) > 0
    except ValueError:
        return False
    return found and not (at.query or at.fragment or _BLANK.search(url))


def _hints(kind: Any) -> Mapping[str, Any]:
    return typing.get_type_hints(kind)


def _is_required(f: dataclasses.Field[Any]) -> bool:
    return f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING


def _scalar(node: yaml.ScalarNode, kind: Any, where: str, line: str) -> Any:
    try:
        value = yaml.SafeLoader("").construct_object(node) if node.tag != "tag:yaml.org,2002:str" else node.value
    except (yaml.YAMLError, ValueError):
        value = None  # its tag is for something else
    if get_origin(kind) is Literal:
        if node.value in get_args(kind):  # as it is written: in YAML, `off` is a truth
            return node.value
        raise ConfigError(f"{line}: {where} must be one of {', '.join(map(repr, get_args(kind)))}, not {node.value!r}")
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if isinstance(kind, types.UnionType) or not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise ConfigError(f"{line}: {where} must be {_named(kind)}, not {node.value!r}")
    if isinstance(value, int | float) and not 0 <= value < math.inf:
        raise ConfigError(f"{line}: {where} must be 0 or more, not {node.value}")
    return value


def _named(kind: Any) -> str:
    return {str: "text", int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "something else")
