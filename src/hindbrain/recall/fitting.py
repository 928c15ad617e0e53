"""A prompt and what was found for it -> what fits well enough to be told, best first, the same thing once.

The ranking says what fits best, not whether it fits: something is always best. So there is a floor. By words alone, two of the
prompt's telling words must be shared; where the search knows how like a passage is to the prompt, being like enough will do
as well, and being rather like it with one word. A prompt that names no topic ("yes, go on", "fix it") is told nothing: noise
costs more than silence.

Imported by the hook when no worker answers: built-ins only.
"""

from hindbrain.recall.excerpt import excerpt
from hindbrain.recall.words import STOP_WORDS, spaced, words_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindbrain.recall.rank import Found

# Of a prompt's telling words this many must be shared before something counts as fitting.
FLOOR_WORDS = 2
# How like a passage and a prompt are (cosine, by the table in the package) when that alone says that they speak of the same; and
# when it does together with one telling word.
LIKE = 0.4
RATHER_LIKE = 0.3
BY_LIKENESS = 5  # that share no telling word, at most: where everything is a little like, nothing of it is meant
LINE_TOKENS = 10  # for its id and who said it
SAME = 0.9  # of two texts' words, when they say the same
_ALIKE_WORDS = 8  # below so many one word makes another statement

# Words that keep a conversation going and name nothing.
_NO_TOPIC = frozenset(
    """
    actually again ahead alright anyway awesome back best better bit carry come continue cool correct done exactly fine
    go going good great hello hey hi hm hmm interesting keep later lgtm look looks maybe mean need nice nope ok okay one
    perfect proceed quick quickly really right see sorry sounds stuff sure thank thanks thing things think try undo wait
    want way well wonderful works wrong yeah yep yup
    """.split()  # noqa: SIM905  # a list this long reads better as text
)
# Words of every other prompt: two together may mean something, one alone does not.
_WEAK = frozenset(
    """
    add bug bugs change check code create error errors everything explain fail failed failing fails file files first fix
    fixed give help idea implement improve issue issues last line make move new next nothing old open problem put
    refactor remove review run show start stop take test tests time todo two update use work write
    """.split()  # noqa: SIM905
)
_NOT = frozenset("no not never none without cannot don't dont isn't".split())  # noqa: SIM905


def stem(word: str) -> str:
    """Enough of a stem to see that two words are alike; the index does it properly."""
    for ending in ("ing", "edly", "ed", "es", "s", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def no_topic(word: str) -> bool:
    """Whether a word only keeps a conversation going."""
    return word in _NO_TOPIC


def weak(word: str) -> bool:
    """Whether a word stands in every other prompt."""
    return word in _WEAK


def topic_of(prompt: str) -> tuple[frozenset[str], frozenset[str]]:
    """The stems of the words that say what a prompt is about, and those that mean something alone; none where nothing does."""
    words = [word for word in words_of(prompt) if word not in _NO_TOPIC and word not in STOP_WORDS]
    strong = frozenset(stem(word) for word in words if word not in _WEAK)
    every = frozenset(map(stem, words))
    return (every, strong) if strong or len(every) > 1 else (frozenset(), frozenset())


def shared(words: str, stems: "Iterable[str]") -> int:
    """How many of the stems some of these words begins with; a short one must be the word."""
    plain = f" {words} "
    return sum((f" {each}" if len(each) > 3 else f" {each} ") in plain for each in stems)


class Fitting:
    """What fits, as it is looked at one by one, best first."""

    def __init__(self, prompt: str, floor: int) -> None:
        self._strict = floor >= FLOOR_WORDS
        self.stems, self._strong = topic_of(prompt)
        if not self.stems and not self._strict:
            self.stems = frozenset(stem(word) for word in words_of(prompt))
        self._floor = min(floor, len(self.stems))
        self._prompt = spaced(prompt)
        self._by_likeness = BY_LIKENESS
        self.kept: list[Found] = []
        self.tokens = 0  # about as many as all that is kept would cost
        self._words: list[frozenset[str]] = []

    def says_something(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.stems)

    def look_at(self, found: "Found", *, asked_before: bool) -> None:
        """Keep it if it fits and is said by none that is kept. `asked_before`: it may be the prompt itself, told elsewhere."""
        words = spaced(excerpt(found.text, found.start, found.end, self.stems))
        if not self._fits(found, words) or (asked_before and words == self._prompt):
            return
        held = frozenset(words.split())
        for place, known in enumerate(self._words):
            if alike(held, known):
                if held != known and found.at > self.kept[place].at:  # of nearly the same the newer holds
                    self.kept[place], self._words[place] = found, held
                return
        self.kept.append(found)
        self._words.append(held)
        self.tokens += LINE_TOKENS + len(words) // 5

    def _fits(self, found: "Found", words: str) -> bool:
        if not self._strict and "meaning" in found.parts:
            return True
        strong = shared(words, self._strong)
        if strong and found.likeness >= RATHER_LIKE:
            return True
        if (strong or not self._strong or not self._strict) and shared(words, self.stems) >= self._floor:
            return True
        if found.likeness >= LIKE and self._by_likeness:
            self._by_likeness -= 1
            return True
        return False


def alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Whether two texts say the same: the same words, or nearly all of many. A number or a "not" makes another statement."""
    if one == other:
        return True
    fewer, more = (len(one), len(other)) if len(one) < len(other) else (len(other), len(one))
    if fewer < _ALIKE_WORDS or fewer < SAME * more:  # then not so much can be shared; most pairs end here
        return False
    both = len(one & other)
    if both < SAME * (fewer + more - both):
        return False
    return not any(word in _NOT or not word.isalpha() for word in one ^ other)
