"""Counting tokens: exact, cached, in any thread, and never over the network."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from gateway.recording.tokens import ENCODING, TokenCounter, slices

COUNTER = TokenCounter()


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An environment that names no vocabulary folder."""
    monkeypatch.delenv("TIKTOKEN_CACHE_DIR", raising=False)
    yield
    monkeypatch.undo()


def exact(text: str) -> int:
    """The count by tiktoken itself."""
    COUNTER.count("the vocabulary's folder is known after this")
    return len(tiktoken.get_encoding(ENCODING).encode_ordinary(text))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        pytest.param("", 0, id="nothing"),
        pytest.param("hello world", 2, id="two words"),
        pytest.param("<|endoftext|>", 7, id="a special token is plain text"),
        pytest.param("\ud800", 1, id="a lone surrogate does not raise"),
    ],
)
def test_counts(text: str, tokens: int) -> None:
    """These texts have so many tokens, the second time too."""
    assert COUNTER.count(text) == COUNTER.count(text) == tokens
    assert not COUNTER.approximate


def test_litellm_is_not_imported(bare: None) -> None:
    """The vocabulary is found in litellm's folder without importing it."""
    before = "litellm" in sys.modules
    assert TokenCounter().count("hello world") == 2
    assert ("litellm" in sys.modules) == before


def test_falls_back_when_the_named_folder_has_no_vocabulary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder without the file is passed over, so that tiktoken does not ask the network."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    counter = TokenCounter()
    assert counter.count("hello world") == 2
    assert os.environ["TIKTOKEN_CACHE_DIR"] != str(tmp_path)


@pytest.mark.parametrize("text", ["hello world", "größe", "\ud800"])
def test_without_vocabulary(tmp_path: Path, text: str) -> None:
    """Where there is no vocabulary, a quarter of the bytes is counted, and said to be approximate."""
    counter = TokenCounter(folder=tmp_path)
    assert counter.approximate
    assert counter.count(text) == -(-len(text.encode("utf-8", "surrogatepass")) // 4)


def test_without_litellm(monkeypatch: pytest.MonkeyPatch, bare: None) -> None:
    """Where litellm is not installed there may be no vocabulary, and counting goes on."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    counter = TokenCounter()
    assert counter.count("hello world") == 3
    assert counter.approximate


def test_a_damaged_vocabulary_is_none(tmp_path: Path) -> None:
    """A vocabulary that is not what it should be is left alone, and tiktoken does not fetch another."""
    file = tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790"
    file.write_bytes(b"not a vocabulary")
    assert TokenCounter(folder=tmp_path).approximate
    assert file.read_bytes() == b"not a vocabulary"


def test_threads_agree() -> None:
    """Many threads on one new counter load one vocabulary and count alike."""
    counter = TokenCounter(capacity=8)
    texts = [f"line {k} of some output\n" * (k + 1) for k in range(40)]
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(counter.count, texts)) == [exact(text) for text in texts]


LINES = [
    "x = 1\n",
    "  indented\n",
    "\n",
    "}\n",
    "/",
    "//\n",
    "größe 漢字\n",
    "1234567\n",
    "end\r\n",
    " \n",
    "Z",
    "'s\n",
]


@given(st.lists(st.sampled_from(LINES), max_size=30).map("".join), st.integers(0, 12))
def test_slices_count_as_the_whole_does(text: str, size: int) -> None:
    """A text counted in slices has as many tokens as in one piece."""
    parts = list(slices(text, size))
    assert "".join(parts) == text
    assert sum(exact(part) for part in parts) == exact(text)


def test_long_text_is_cut() -> None:
    """A text of many lines is counted in several slices."""
    text = "a b c 12\n" * 100_000
    assert len(list(slices(text))) > 2
    assert COUNTER.count(text) == exact(text)


def test_text_without_a_seam_is_one_slice() -> None:
    """A text of one line is not cut, however long."""
    assert len(list(slices("=" * 1_000_000))) == 1
