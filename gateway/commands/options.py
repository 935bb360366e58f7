"""Options that several commands take, and how a command refuses."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from gateway.config import Config, Upstream, load
from gateway.errors import ConfigError

_DATA = "TACO_DATA"

F = TypeVar("F", bound=Callable[..., Any])


class Refusal(click.ClickException):
    """What is asked for cannot be done; the message says in one line why and what to do next."""

    exit_code = 2


def _usual() -> Path:
    return Path.home() / ".taco-gateway"


def data_option(function: F) -> F:
    """`--data DIR`: the folder with all that the gateway keeps."""
    return click.option(
        "--data",
        type=click.Path(path_type=Path),
        envvar=_DATA,
        default=_usual,
        show_default="$TACO_DATA or ~/.taco-gateway",
        help="Folder with everything that the gateway keeps.",
    )(function)


def with_data(command: str, data: Path) -> str:
    """A command to type next: `--data` is part of it unless the folder is the one that it takes anyway."""
    taken = Path(os.environ.get(_DATA) or _usual())
    return command if data == taken else f"{command} --data {shlex.quote(str(data))}"


def config_option(function: F) -> F:
    """`--config F`."""
    return click.option(
        "--config",
        "file",
        type=click.Path(path_type=Path),
        help="Configuration file.  [default: config.yaml in the data folder, if there]",
    )(function)


def json_option(function: F) -> F:
    """`--json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(function)


def read_config(file: Path | None, data: Path, upstream: str | None = None, first: tuple[Upstream, ...] = ()) -> Config:
    """The configuration in use, `first` before the default upstreams. Refuses with what is broken, and in which line."""
    own = data / "config.yaml"
    try:
        return load(file or (own if own.exists() else None), upstream=upstream, first=first)
    except ConfigError as error:
        raise Refusal(error.message) from error


def open_folder(data: Path) -> Path:
    """The data folder, made if it is not there. Refuses if nothing can be written in it."""
    try:
        data.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{data}: {error.strerror}; pass another folder with --data") from error
    if not os.access(data, os.W_OK | os.X_OK):
        raise Refusal(f"{data}: not writable; pass another folder with --data, or change its owner")
    return data
