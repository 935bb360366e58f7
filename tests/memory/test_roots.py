"""Whose memory lies where."""

from __future__ import annotations

from pathlib import Path

import pytest

from memory.roots import root_of, roots


def test_the_first_tenant_has_the_top(tmp_path: Path) -> None:
    """Who asks first is at the top of the data folder, now and after a restart; others are apart."""
    assert root_of(tmp_path, "one") == tmp_path
    assert root_of(tmp_path, "two") == tmp_path / "tenants" / "two"
    assert root_of(tmp_path, "one") == tmp_path


@pytest.mark.parametrize("tenant", ["..", "a/b", "", "ü", "."])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, tenant: str) -> None:
    """Whatever a tenant is called, its folder is one of those below `tenants/`."""
    root_of(tmp_path, "first")
    root = root_of(tmp_path, tenant)
    assert root.resolve().parent == (tmp_path / "tenants").resolve() or tenant == ""
    assert root != root_of(tmp_path, "first")


def test_all_of_them(tmp_path: Path) -> None:
    """The top comes first, then the others by name."""
    assert roots(tmp_path) == [tmp_path]
    for tenant in ("one", "two", "three"):
        root_of(tmp_path, tenant).mkdir(parents=True, exist_ok=True)
    assert roots(tmp_path) == [tmp_path, tmp_path / "tenants" / "three", tmp_path / "tenants" / "two"]
