"""Talk in English words, as much as is wanted and always the same, and questions about it.

The words are the whole ones of the embedder's own vocabulary, in its order, which is about that of how often they are used; the
n-th is said about 1/n as often as the first. Each session has words of its own that it comes back to, so that a question about
them has turns that fit by words and by meaning, and many that share only a word in common use.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator

from bench.talk import OPEN_SESSIONS, PROJECTS, START_MS, Talk, identity
from hindbrain.capture.event import Event, stable_id
from hindbrain.recall.static import Static
from hindbrain.recall.words import STOP_WORDS

TOPIC_WORDS = 12
FROM_TOPIC = 0.3
COMMON = 250  # of the first words those that questions are filled with
ASKED = 200
FORMS = (
    "what did we say about {} and {} when the {} {} was {} {}", "where does the {} of {} {} come from, and why {} {} {}",
    "how do I {} the {} for {} and {}, {} or {}", "{} {} {} {} {} {}", "who {} that {} should {} the {} with {} and {}",
)  # fmt: skip


class Said(Talk):
    """Sessions going on side by side, each with a topic."""

    def __init__(self, asked: int = ASKED) -> None:
        self.asked = asked
        self._choose = random.Random(20260303)
        self.words = [word for word in Static.load().vocabulary if re.fullmatch("[a-z]{2,}", word)]
        self._weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self.words))))
        self._sessions = itertools.count()
        self._going = [self._new() for _ in range(OPEN_SESSIONS)]

    def _topic(self, session: int) -> list[str]:
        """Words neither common nor rare, the same for the same session."""
        return random.Random(f"topic {session}").sample(self.words[300:12_000], TOPIC_WORDS)

    def turns(self) -> Iterator[Event]:
        topics = {going[0]: self._topic(going[0]) for going in self._going}
        for number in itertools.count():
            which = number % OPEN_SESSIONS
            session, project, left = self._going[which]
            words = self._choose.choices(self.words, cum_weights=self._weights, k=self._choose.randint(10, 40))
            words = [self._choose.choice(topics[session]) if self._choose.random() < FROM_TOPIC else word for word in words]
            yield Event(
                kind="turn", agent="claude-code", session=f"session-{session}", at=START_MS + number * 1000, key=str(number),
                origin="hook", role=("user", "assistant")[left % 2], text=" ".join(words), cwd=f"/srv/code/app{project}",
            )  # fmt: skip
            self._going[which][2] -= 1
            if left == 1:
                del topics[session]
                self._going[which] = self._new()
                topics[self._going[which][0]] = self._topic(self._going[which][0])

    def questions(self) -> list[tuple[str, str]]:
        """Words and a project: two words of one topic, and others as often as they are said; they fit a tenth of all turns.

        That many words, and turns that share one of them, are what the questions of LongMemEval have.
        """
        choose = random.Random(20260304)
        others = [(word, 1 / (rank + 3)) for rank, word in enumerate(self.words[:COMMON]) if word not in STOP_WORDS]
        words, weights = [word for word, _ in others], list(itertools.accumulate(weight for _, weight in others))
        asked = []
        for number in range(self.asked):
            topic = choose.sample(self._topic(choose.randrange(1500)), 2)
            rest = choose.choices(words, cum_weights=weights, k=4)
            asked.append((FORMS[number % len(FORMS)].format(*topic, *rest), stable_id("p", identity(choose.randrange(PROJECTS)))))
        return asked
