"""Words as the index knows them; Chinese, Japanese and Korean, which write no blanks, as pairs of signs.

"用API接口"  ─spread→  "用 API 接口 口"         what is indexed
"API 接口"   ─query→   '"API" AND "接口"'       what is asked for: nothing that was typed is syntax
"""

from __future__ import annotations

import re
import unicodedata

TOKENIZER = "unicode61 remove_diacritics 2 categories 'L* N* Co Cn'"
"""Of the index. It knows Unicode 6.1: letters that came later are unassigned to it."""

TOKEN_CHARACTERS = 4
"""Of English text and code make a token of a model, about."""

LONGEST = 64
"""Characters of a word that count: longer ones are keys, hashes and files as text."""

_SIGNS = (
    "々〆〇ぁ-ゖゝ-ゟァ-ヺー-ヿㄅ-ㄯㇰ-ㇿ㐀-䶿一-鿿豈-\ufaffᄀ-ᇿꥠ-\ua97f가-힣ힰ-\ud7ff"
    "\U0001aff0-\U0001b16f\U00020000-\U000323af"
)
_PICTURES = "\u2600-\u27bf\u2b50-\u2b55\U0001f000-\U0001faff"
_SPECIAL = re.compile(f"[{_SIGNS}]+|[{_PICTURES}]")
_MARK = re.compile(rf"[^\w\s\u0000-\u007f{_PICTURES}]")
"""What is no letter or digit: an index that does not know it takes it for one."""
_LONG = re.compile(f"([0-9A-Za-z]{{{LONGEST}}})[0-9A-Za-z]+")
_WORD = re.compile(r"[^\W_]")


def spread(text: str) -> str:
    """The text with runs of signs as overlapping pairs, each picture as a word, and long words cut."""
    return _SPECIAL.sub(_spell, _plain(text))


def query(text: str) -> str:
    """What finds the texts that hold each of these words, in one piece where no blank parts them; "" for no word."""
    phrases = (_phrase(word) for word in _plain(text.replace("\0", " ")).split())
    return " AND ".join(phrase for phrase in phrases if phrase)


def estimate(text: str) -> int:
    """Tokens that a model would read, about: each sign of Chinese, Japanese or Korean is one."""
    signs = 0 if text.isascii() else sum(map(len, _SPECIAL.findall(text)))
    return signs - (signs - len(text)) // TOKEN_CHARACTERS


def _plain(text: str) -> str:
    if not text.isascii():
        text = _MARK.sub(_parted, unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode()))
    return _LONG.sub(r"\1", text)


def _parted(mark: re.Match[str]) -> str:
    return " " if unicodedata.category(mark[0])[0] in "PSC" else mark[0]


def _spell(match: re.Match[str]) -> str:
    run = match[0]
    if _is_picture(run):
        return f" {_name(run)} "
    # The last sign stands by itself, too: so every sign begins a word.
    return f" {' '.join(run[k : k + 2] for k in range(len(run)))} "


def _is_picture(run: str) -> bool:
    return len(run) == 1 and re.match(f"[{_PICTURES}]", run) is not None


def _name(picture: str) -> str:
    return f"u{ord(picture):x}"


def _phrase(word: str) -> str:
    """The pieces of one string without blanks follow each other."""
    pieces, at = [], 0
    for match in _SPECIAL.finditer(word):
        pieces += [*_words(word[at : match.start()]), _run(match[0], is_last=match.end() == len(word))]
        at = match.end()
    return " + ".join([*pieces, *_words(word[at:])])


def _words(text: str) -> list[str]:
    quoted = text.replace('"', '""')
    return [f'"{quoted}"'] if _WORD.search(text) else []


def _run(run: str, *, is_last: bool) -> str:
    if _is_picture(run):
        return f'"{_name(run)}"'
    if len(run) == 1 and is_last:
        return f'"{run}" *'
    pairs = [run[k : k + 2] for k in range(len(run) - 1)]
    return f'"{" ".join(pairs if is_last else [*pairs, run[-1]])}"'
