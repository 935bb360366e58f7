"""Words: found as they stand, in every script, and never taken for syntax."""

from __future__ import annotations

import sqlite3
import unicodedata
from contextlib import closing

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.L4_raw_sessions.tokens import LONGEST, TOKENIZER, estimate, query, spread


def holds(text: str, asked: str) -> bool:
    """Whether a text is found by what is asked."""
    match = query(asked)
    if not match:
        return False
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f"CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize=\"{TOKENIZER}\")")
        connection.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (spread(text),))
        return bool(connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,)).fetchall())


@pytest.mark.parametrize("asked", ["", "  ", '"', "***", "-", "^", "()", "\0", "…", "_"])
def test_what_has_no_word_asks_for_nothing(asked: str) -> None:
    """Signs alone find nothing and raise nothing."""
    assert query(asked) == ""


@pytest.mark.parametrize("plain", ["plain words", "snake_case and a.b", "", "Élan vital"])
def test_text_of_letters_stays_as_it_is(plain: str) -> None:
    """Only signs, pictures and long words are spelt otherwise."""
    assert spread(plain) == plain


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("connection refused", "refuse", id="a part of a word"),
        pytest.param("the port is open", "port closed", id="one of two words"),
        pytest.param("foo and bar", "foo.bar", id="two words that must follow each other and do not"),
        pytest.param("訪問する", "問訪", id="two signs the other way round"),
        pytest.param("数据 库", "数据库", id="signs that a blank parts"),
        pytest.param("한국어", "국한", id="two syllables the other way round"),
        pytest.param("日本語", "中", id="one sign that is not there"),
        pytest.param("foo", "NOT foo bar", id="an operator is a word like any other"),
    ],
)
def test_what_does_not_stand_there_is_not_found(text: str, asked: str) -> None:
    """All words have to be there, each string without blanks in one piece."""
    assert not holds(text, asked)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        pytest.param("Connection REFUSED", "refused connection", id="any case, any order"),
        pytest.param("Élan", "elan", id="without accents"),
        pytest.param("in snake_case here", "snake_case", id="an underscore parts words"),
        pytest.param("at src/app.py:12", "app.py:12", id="a place in a file"),
        pytest.param("用API接口访问数据库", "接口", id="two signs inside a run, Chinese"),
        pytest.param("用API接口访问数据库", "库", id="one sign at the end of a run"),
        pytest.param("用API接口访问数据库", "用", id="one sign at the beginning"),
        pytest.param("用API接口访问数据库", "访问数", id="three signs"),
        pytest.param("用API接口访问数据库", "访问数据", id="four signs"),
        pytest.param("用API接口访问数据库", "API接口", id="letters and signs that touch each other"),
        pytest.param("用API接口访问数据库", "用API", id="signs and letters"),
        pytest.param("テストを実行する", "実行", id="Japanese"),
        pytest.param("ｶﾀｶﾅのﾃｽﾄ", "テスト", id="halves of a width"),
        pytest.param("테스트를 실행한다", "실행", id="Korean"),
        pytest.param(unicodedata.normalize("NFD", "테스트"), "테스트", id="Korean in pieces"),
        pytest.param("\U0002b820字", "\U0002b820", id="a sign that Unicode 6.1 does not know"),
        pytest.param("done ✅ at last", "✅", id="a picture"),
        pytest.param("🥳🎉", "🎉", id="one of two pictures"),
        pytest.param('say "no"', '"no"', id="quotes"),
        pytest.param("a AND b OR c NOT d NEAR e", "AND OR NOT NEAR", id="operators"),
        pytest.param("col: text*", "col:text*", id="more of the syntax"),
        pytest.param("x" * 500, "x" * 500, id="a long word"),
        pytest.param("half \ud800 of a sign", "half of", id="half a character"),
        pytest.param("before\0behind", "behind", id="a zero byte"),
    ],
)
def test_what_stands_there_is_found(text: str, asked: str) -> None:
    """In every script, whatever the syntax of the index would make of it."""
    assert holds(text, asked)


SIGNS = "数据库接口访问用中あいカナ한국어"


@given(st.data())
def test_every_part_of_a_run_is_found(data: st.DataObject) -> None:
    """Whatever stands around a run of signs, each piece of it is found."""
    run = data.draw(st.text(SIGNS, min_size=1, max_size=8))
    before, behind = (
        data.draw(st.sampled_from(["", "x", "a ", "。"])),
        data.draw(st.sampled_from(["", "y", " b", "！"])),
    )
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert holds(before + run + behind, run[start:end])


@given(st.text(max_size=80), st.text(max_size=40))
def test_nothing_that_is_typed_is_syntax(text: str, asked: str) -> None:
    """No text and no question makes the index raise."""
    holds(text, asked)


@example("0ぁ\U0001fb00\U00020000")
@example("a\U0001fb00b \u2bff7")
@example("0\u2600\U00018cd6\u4e00 \ue000x\u0378")
@given(st.text(max_size=60))
def test_a_text_is_found_by_itself(text: str) -> None:
    """Where it has a word at all."""
    if query(text) and any(c.isalnum() and ord(c) < 0x3000 for c in unicodedata.normalize("NFKC", text)):
        assert holds(text, text)


def test_long_words_count_by_their_beginning() -> None:
    """Keys and files as text do not fill the index."""
    assert spread("y" * 10_000) == "y" * LONGEST


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcd", 1), ("abcde", 2), ("数据库", 3), ("数据 ab", 3)])
def test_tokens_are_estimated(text: str, tokens: int) -> None:
    """A sign is one, four letters are one."""
    assert estimate(text) == tokens
