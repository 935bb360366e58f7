"""Which memory a command is about, and how it refuses where the memory does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click

from gateway.commands.options import Refusal
from gateway.remembering.memories import Memory, memory_of
from memory import StoreError
from memory.errors import EntryRefused
from memory.roots import raw_folder

F = TypeVar("F", bound=Callable[..., Any])


def tenant_option(function: F) -> F:
    """`--tenant NAME`."""
    text = "Whose memory; `memory status` lists them.  [default: that of the key that was used first]"
    return click.option("--tenant", metavar="NAME", help=text)(function)


@contextmanager
def remembered(data: Path, tenant: str | None) -> Iterator[Memory]:
    """The memory of a tenant. Refuses if there is none, and with what it refuses."""
    if not (data / "memory").is_dir() and not raw_folder(data).is_dir():
        raise Refusal(
            f"{data}: nothing is remembered here yet; start `taco-gateway up`, or pass the folder with --data"
        )
    try:
        yield memory_of(data, tenant)
    except (StoreError, EntryRefused, ValueError) as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise Refusal(f"{error.filename}: {error.strerror}; look for space and rights on that disk") from error
