"""Whose memory lies where: the first tenant's at the top of the data folder, each other's in a folder of its own."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, unquote

FIRST = "memory/tenant"
"""The file that says who was first."""

OTHERS = "tenants"


def root_of(data: Path, tenant: str) -> Path:
    """The folder with a tenant's `memory/` and `temp/`. Who asks first is given the top."""
    return data if _first(data, tenant) == tenant else data / OTHERS / _file_name(tenant)


def roots(data: Path) -> list[Path]:
    """Every tenant's folder, the first one's first."""
    return [data, *sorted(path for path in (data / OTHERS).glob("*") if path.is_dir())]


def data_of(root: Path) -> Path:
    """The data folder that a tenant's folder is in."""
    return root.parent.parent if root.parent.name == OTHERS else root


def tenant_at(root: Path) -> str:
    """Whose folder it is; "" where logs were put there before anybody came."""
    if root != data_of(root):
        return unquote(root.name)
    first = root / FIRST
    return first.read_text(encoding="utf-8") if first.exists() else ""


def raw_folder(root: Path) -> Path:
    """A tenant's raw logs."""
    return root / "temp" / "model_responses"


def _first(data: Path, tenant: str) -> str:
    path = data / FIRST
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(tenant, encoding="utf-8")
    try:
        os.link(draft, path)  # of two processes one wins, and nobody reads half a name
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return path.read_text(encoding="utf-8")


def _file_name(tenant: str) -> str:
    return quote(tenant, safe="").replace(".", "%2E")
