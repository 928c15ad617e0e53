"""Any text -> the words worth searching for, as an FTS5 expression that no text can break.

Question and function words say nothing about what is meant and match everything, so they are left out, unless a question is made
of nothing else. Each word is quoted, so operators, quotes and column names in a question are only words.

Imported by the hook when no worker answers: nothing but built-ins.
"""

MAX_WORDS = 48
MAX_CHARS = 20_000

STOP_WORDS = frozenset(
    """
    a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each else few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let lets like me might more most must my myself
    no nor not now of off on once only or other ought our ours ourselves out over own please same shall she should
    so some such than that the their theirs them themselves then there these they this those through to too under
    until up upon us very was we were what when where which while who whom whose why will with would yes yet you
    your yours yourself yourselves d ll m re s t ve don doesn didn isn aren wasn weren won wouldn couldn shouldn
    hasn haven hadn cannot ever many much get got tell know said say says
    """.split()  # noqa: SIM905  # a list this long reads better as text
)


class _Letters(dict[int, int]):
    """What each letter becomes: itself, or a space where it is no part of a word."""

    def __missing__(self, code: int) -> int:
        self[code] = code if chr(code).isalnum() else 32
        return self[code]


_LETTERS = _Letters()


def spaced(text: str, most: int = MAX_CHARS) -> str:
    """The words of a text, of its first letters at least, in lower case and with nothing but space between them."""
    return " ".join(text[:most].translate(_LETTERS).lower().split())


def words_of(text: str) -> list[str]:
    """The distinct words of a text in order, without stop words where others remain."""
    every = list(dict.fromkeys(spaced(text).split()))
    telling = [word for word in every if word not in STOP_WORDS]
    return (telling or every)[:MAX_WORDS]


def match_expression(words: list[str]) -> str:
    """An FTS5 expression that finds any of the words."""
    return " OR ".join(f'"{word}"' for word in words)
