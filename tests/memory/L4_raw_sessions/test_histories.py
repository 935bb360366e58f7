"""`search_history`: whole blocks, as the article's own function finds them, from the file alone; live sessions with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memory import search_history
from memory.L4_raw_sessions.histories import read_blocks
from tests.memory.L4_raw_sessions.talks import MAY, Talks

LINE = "=" * 60


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Talks:
    """Two archived sessions and a live one."""
    talks = Talks(tmp_path_factory.mktemp("talks") / "data")
    talks.say("first", f"about WeChat\n{LINE}\nSESSION: no\n{LINE}", answer="an answer", model="large")
    talks.say("second", "about nothing", answer="微信 is WeChat")
    talks.archive()
    talks.say("third", "wechat again", answer="WECHAT")
    return talks


@pytest.fixture
def ask(filled: Talks) -> Callable[..., list[str]]:
    """The sessions whose blocks are found, by their first user line."""

    def search(keyword: str, **wanted: Any) -> list[str]:
        found = search_history(keyword, l4_dir=filled.l4, **wanted)
        return [next(line for line in text.split("\n") if line.startswith("[USER]")) for text in found]

    return search


def test_nothing_there(tmp_path: Path) -> None:
    """No folder, no file, an empty file: nothing is found."""
    assert search_history("word", l4_dir=tmp_path / "none") == []
    (tmp_path / "all_histories.txt").write_text("")
    assert search_history("word", l4_dir=tmp_path) == []
    (tmp_path / "all_histories.txt").write_text("a word of nobody\n")
    assert search_history("word", l4_dir=tmp_path) == []


def test_whole_blocks_live_ones_last(filled: Talks) -> None:
    """Header included, in any case, though a text imitates the header."""
    found = search_history("wechat", l4_dir=filled.l4)
    assert [text.split("\n")[:3] for text in found] == [
        [LINE, "SESSION: 0501_0147-0501_0147.txt", LINE],
        [LINE, "SESSION: 0501_0148-0501_0148.txt", LINE],
        [LINE, "SESSION: live/third", LINE],
    ]
    assert found[2].split("\n")[4:] == ["[USER]: wechat again", "[Agent] WECHAT", ""]
    assert search_history("wechat", l4_dir=filled.l4) == found


def test_every_hit_names_its_session_when_split_as_the_article_does(filled: Talks) -> None:
    """The article's own function, run on our file, gives bodies that say whose they are."""
    content = (filled.l4 / "all_histories.txt").read_text(encoding="utf-8")
    matches = [block for block in content.split(LINE) if "wechat" in block.lower()]
    assert [block.split(" id=")[1].split()[0] for block in matches] == ["first", "second"]


def test_the_file_alone_is_enough(filled: Talks, tmp_path: Path) -> None:
    """One positional argument, as in the article, where nothing else was kept."""
    copy = tmp_path / "memory" / "L4_raw_sessions" / "all_histories.txt"
    copy.parent.mkdir(parents=True)
    copy.write_bytes((filled.l4 / "all_histories.txt").read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        assert len(search_history("wechat")) == 2
        assert search_history("WECHAT", role="user")[0].startswith(LINE)


def test_histories_of_others_are_searched(tmp_path: Path) -> None:
    """They say neither model nor time, and so they are not within any."""
    (tmp_path / "all_histories.txt").write_text(
        f"\n{LINE}\nSESSION: 0101_0000-0101_0001\n{LINE}\n[USER]: hello\n[Agent] hi"
    )
    assert search_history("hello", l4_dir=tmp_path) == [
        f"{LINE}\nSESSION: 0101_0000-0101_0001\n{LINE}\n[USER]: hello\n[Agent] hi\n"
    ]
    assert search_history("hello", since=0, l4_dir=tmp_path) == []
    assert search_history("hello", model="m", l4_dir=tmp_path) == []


FIRST, SECOND, THIRD = "[USER]: about WeChat", "[USER]: about nothing", "[USER]: wechat again"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param({"limit": 0}, [], id="none are enough"),
        pytest.param({"role": "tool"}, [], id="a role that did not say it"),
        pytest.param({"role": "system"}, [], id="a role that has no lines"),
        pytest.param({"session": "absent"}, [], id="an unknown session"),
        pytest.param({"until": MAY - 1}, [], id="before everything"),
        pytest.param({"limit": 1}, [THIRD], id="the last one"),
        pytest.param({"limit": 9}, [FIRST, SECOND, THIRD], id="more than there are"),
        pytest.param({"role": "user"}, [FIRST, THIRD], id="words of a user"),
        pytest.param({"role": "assistant"}, [SECOND, THIRD], id="words of an agent"),
        pytest.param({"model": "large"}, [FIRST], id="a model"),
        pytest.param({"session": "second"}, [SECOND], id="a session by its id"),
        pytest.param({"session": "2026-05/0501_0147-0501_0147"}, [FIRST], id="a session by its name"),
        pytest.param({"since": "2026-05-02"}, [THIRD], id="since a date"),
        pytest.param({"until": "2026-05-02"}, [FIRST, SECOND], id="until a date"),
    ],
)
def test_what_is_wanted(ask: Callable[..., list[str]], wanted: dict[str, Any], expected: list[str]) -> None:
    """Each condition leaves out what does not meet it."""
    assert [found[: len(e)] for found, e in zip(ask("wechat", **wanted), expected, strict=True)] == expected


def test_a_live_session_is_told_anew_when_it_goes_on(tmp_path: Path) -> None:
    """Its lines are kept only until then."""
    talks = Talks(tmp_path)
    talks.say("a", "alpha")
    assert "beta" not in search_history("alpha", l4_dir=talks.l4)[0]
    talks.say("a", "beta")
    assert "[USER]: beta" in search_history("alpha", l4_dir=talks.l4)[0]


def test_blocks_say_where_they_stand(filled: Talks) -> None:
    """So that they can be taken out again."""
    path = filled.l4 / "all_histories.txt"
    data = path.read_bytes()
    blocks = list(read_blocks(path))
    assert [data[one.at : one.at + one.size].decode().strip() for one in blocks] == [one.text.strip() for one in blocks]
    assert blocks[0].facts()["zip"] == "2026-05.zip"
