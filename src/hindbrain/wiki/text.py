"""A memory's words -> Markdown that shows exactly these words and nothing else -> the words again.

Whatever a statement says stays a sentence in its list item: it opens no heading, list, link, picture, table, fence, formula,
comment or tag, and it cannot carry the mark of another memory. Only a pair of single backticks is left to do what it does,
because people write commands so, and only around words that stay harmless there. White space is folded; everything else comes
back letter for letter. Control characters, bidi marks and the like are shown as `\\u{202e}`, so that a reader sees them.

Behind the words a generated tail may stand, in brackets that the words themselves cannot open: `(because: …; instead of: …)`.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from hindbrain.base.errors import UsageError

_ACTIVE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_JOINERS: Final = "\u200c\u200d"  # part of how some scripts and many emojis are written; they hide nothing from a reader
_TAIL: Final = r"\((?:because: |instead of: |project: |\d{4}-\d\d-\d\d to )"
_PUNCTUATION: Final = r"[!-/:-@\[-`{-~]"

_CODE: Final = r"(?<!`)`(?!`)(?P<code>[^`]+)`(?!`)"
_UNTAME: Final = re.compile(rf"\[\[|\]\(|\^|~~|%%|://|{_TAIL}")
_BEFORE: Final = re.compile(
    rf"{_CODE}"
    r"|(?P<slash>\\(?!(?!u\{)[A-Za-z0-9]))"  # before a letter it is only itself
    r"|(?P<always>[`*\[\]<^$|])"
    r"|(?P<under>(?<![^\W_])_|_(?![^\W_]))"  # inside a word it is only itself
    r"|(?P<hash>(?<![^\W_])\#)"
    r"|(?P<wave>(?<=\S)~|~(?=[\s~]|$)|^~)"
    r"|(?P<twice>%(?=%)|(?<=%)%|=(?==)|(?<==)=)"
    r"|(?P<entity>&(?=\#?[A-Za-z0-9]{1,40};))"
    r"|(?P<address>:(?=//)|(?<=\bwww)\.)"
    rf"|(?P<tail>{_TAIL[:2]}(?={_TAIL[2:]}))"
    r"|(?P<first>^[-+>=])|(?P<number>^\d{1,9}(?=[.)](?:\s|$)))"
    r"|(?P<odd>[^\x20-\x7e])",
)
_AFTER: Final = re.compile(rf"\\u\{{(?P<odd>[0-9a-f]{{1,6}})\}}|\\(?P<mark>{_PUNCTUATION})|{_CODE}")
_PLAIN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ,;'\"?!/-]*[A-Za-z0-9,;'\"?!/-]\.?")

_MEMORY: Final = re.compile(r"[a-z]_[0-9a-z]{1,64}")
_MARK: Final = re.compile(r"\^?([a-z])-([0-9a-z]{1,64})")


def folded(words: str) -> str:
    """With one space wherever there was white space, and none at the ends."""
    return " ".join(words.split())


@lru_cache(maxsize=20_000)
def escaped(words: str) -> str:
    """As Markdown for the inside of a list item, in one line."""
    words = folded(words)
    return words if _PLAIN.fullmatch(words) else _BEFORE.sub(_escape, words)


def _escape(found: re.Match[str]) -> str:
    whole = found[0]
    if found.lastgroup == "odd":
        return _shown(whole)
    if found.lastgroup == "number":
        return whole + "\\"
    if found.lastgroup == "code":
        return whole if _tame(found["code"]) else "\\`" + _BEFORE.sub(_escape, found["code"]) + "\\`"
    return "\\" + whole


def _tame(code: str) -> bool:
    """Whether nothing in it is a mark, a link or unseen, to a reader who does not know of code either."""
    return code.strip() != "" and _UNTAME.search(code) is None and all(_shown(letter) == letter for letter in code)


def _shown(letter: str) -> str:
    if letter in _JOINERS or unicodedata.category(letter) not in _ACTIVE:
        return letter
    return f"\\u{{{ord(letter):x}}}"


def plain(markdown: str) -> str:
    """The words a list item shows, in one line. What a person typed there without escaping anything is taken as it stands."""
    return folded(_AFTER.sub(_unescape, markdown)) if "\\" in markdown else folded(markdown)


def _unescape(found: re.Match[str]) -> str:
    if found.lastgroup == "code":
        return found[0]
    if found.lastgroup == "mark":
        return found["mark"]
    code = int(found["odd"], 16)
    odd = code <= 0x10FFFF and _shown(chr(code)) != chr(code)
    return chr(code) if odd else found[0]


def mark(memory_id: str) -> str:
    """`m_5b1c` -> `^m-5b1c`, the block mark of its line. Other ids of the ledger have theirs alike."""
    if not _MEMORY.fullmatch(memory_id):
        raise UsageError(f"no id of a memory: {memory_id[:80]!r}")
    return "^" + memory_id.replace("_", "-", 1)


def memory_of(block_mark: str) -> str:
    """`^m-5b1c` -> `m_5b1c`."""
    found = _MARK.fullmatch(block_mark)
    if found is None:
        raise UsageError(f"no block mark: {block_mark[:80]!r}")
    return f"{found[1]}_{found[2]}"


_TAIL_AT: Final = re.compile(rf"(?:^|\s){_TAIL}")  # a bracket of the words themselves has a backslash before it


def tailed(markdown: str, parts: list[str]) -> str:
    """With a tail of such parts; each begins with one of the words that make brackets a tail."""
    return f"{markdown} ({'; '.join(parts)})" if parts else markdown


def parted(markdown: str) -> tuple[str, str]:
    """Escaped words and the tail behind them; "" where there is none."""
    if not markdown.endswith(")") or (found := _TAIL_AT.search(markdown)) is None:
        return markdown, ""
    return markdown[: found.start()], markdown[found.start() :].strip()
