"""A cache that forgets what was used longest ago, bounded by the size of what it holds."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class BoundedCache(Generic[K, V]):
    """Least recently used entries go first once the sum of sizes passes `limit`. May be used from several threads."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._entries)

    def has(self, key: K) -> bool:
        """Whether there is a value; this does not count as use."""
        return key in self._entries

    def get(self, key: K) -> V | None:
        """The value, which now counts as just used."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        try:  # without the lock, which would cost as much again
            self._entries.move_to_end(key)
        except KeyError:
            return entry[0]  # another thread has just dropped it
        return entry[0]

    def values(self) -> list[V]:
        """All values, the one used last first; this does not count as use."""
        with self._lock:
            return [value for value, _ in reversed(self._entries.values())]

    def put(self, key: K, value: V, size: int = 1) -> None:
        """Keep a value; one larger than the whole cache is not kept."""
        with self._lock:
            self._drop(key)
            if size > self.limit:
                return
            self._entries[key] = (value, size)
            self.size += size
            while self.size > self.limit:
                _, (_, gone) = self._entries.popitem(last=False)
                self.size -= gone

    def drop(self, key: K) -> None:
        """Forget a value, if it is there."""
        with self._lock:
            self._drop(key)

    def _drop(self, key: K) -> None:
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.size -= entry[1]
