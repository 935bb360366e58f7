"""Counts tokens, off the request's path: the text decides, not the model, and no network is used."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b, sha256
from pathlib import Path
from threading import Lock

from gateway.cache import BoundedCache

ENCODING = "o200k_base"
_FILE = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""The name under which tiktoken looks for this vocabulary: the SHA-1 of its address."""
_CONTENT = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
"""The SHA-256 of what is in it."""
_SLICE = 1 << 18
_SEAM = re.compile(r"\n(?=[A-Za-z0-9])")


class TokenCounter:
    """Tokens of a text in `ENCODING`, whatever model reads it; counts of texts seen before cost a hash.

    May be used from several threads. The first count loads the vocabulary, which takes a third of a second.
    """

    def __init__(self, folder: Path | None = None, capacity: int = 20_000, *, rough: bool = False) -> None:
        """`rough` ones go without a vocabulary."""
        self._folder = folder
        self._encode: Callable[[str], list[int]] | None = None
        self._loaded = rough
        self._counts: BoundedCache[bytes, int] = BoundedCache(capacity)
        self._lock = Lock()
        self._loading = Lock()

    @property
    def approximate(self) -> bool:
        """No vocabulary can be had: counts are a quarter of the bytes."""
        self._load()
        return self._encode is None

    def count(self, text: str) -> int:
        """Tokens of `text`; special tokens in it are plain text."""
        if not text:
            return 0
        name = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            known = self._counts.get(name)
        if known is None:
            known = self._count(text)
            with self._lock:
                self._counts.put(name, known)
        return known

    def _count(self, text: str) -> int:
        self._load()
        if self._encode is None:
            return -(-len(text.encode("utf-8", "surrogatepass")) // 4)
        return sum(len(self._encode(part)) for part in slices(text))

    def _load(self) -> None:
        with self._loading:
            if not self._loaded:
                self._encode = _load_encoder([self._folder] if self._folder else _folders())
                self._loaded = True


def slices(text: str, size: int = _SLICE) -> Iterator[str]:
    """The text in parts that count separately as they do together, so that no one call holds up the process."""
    at = 0
    while len(text) - at > size and (seam := _SEAM.search(text, at + size)):
        yield text[at : seam.end()]
        at = seam.end()
    yield text[at:]


def _folders() -> Iterator[Path]:
    """Where tiktoken keeps vocabularies, and those that come with litellm, which is not imported for it."""
    if chosen := os.environ.get("TIKTOKEN_CACHE_DIR"):
        yield Path(chosen)
    litellm = importlib.util.find_spec("litellm")
    if litellm is not None and litellm.origin is not None:
        yield Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers"


def _load_encoder(folders: Iterable[Path]) -> Callable[[str], list[int]] | None:
    folder = next((folder for folder in folders if _holds_vocabulary(folder)), None)
    if folder is None:
        return None
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    import tiktoken
    from tiktoken_ext.openai_public import o200k_base  # type: ignore[import-untyped]

    parts = o200k_base()
    encoding = tiktoken.Encoding(**parts)
    # 28 MB that only the compiled half needed, and it has its own copy
    parts["mergeable_ranks"].clear()
    return encoding.encode_ordinary


def _holds_vocabulary(folder: Path) -> bool:
    # for a file that is missing or damaged tiktoken would ask the network
    try:
        return sha256((folder / _FILE).read_bytes()).hexdigest() == _CONTENT
    except OSError:
        return False
