"""What can go wrong with the store.

StoreError              the file cannot be read or written; the message says what to do
├── StoreBusy           not in time: another process holds it, or the disk is slow
├── StoreMissing        nothing is stored under the name that was asked for
└── StoreCorrupt        what is in the file is not what was put there
EntryRefused            an entry of a memory level breaks a limit, or holds what may not stand there; says what to do
"""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot be read or written."""


class StoreBusy(StoreError):
    """It took longer than the caller could wait; nothing was changed."""


class StoreMissing(StoreError):
    """Nothing is stored under the name that was asked for."""


class StoreCorrupt(StoreError):
    """The file is damaged or is not one of ours."""


class EntryRefused(Exception):
    """An entry of a memory level breaks a limit, or holds what may not stand there."""
