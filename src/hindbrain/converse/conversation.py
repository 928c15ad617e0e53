"""What was said in a conversation -> what a backend that remembers nothing is told of it again.

    memory = ConversationMemory(max_turns=5, budget_chars=4000)
    memory.record_turn("user", "the staging database listens on 5433")
    memory.record_turn("assistant", "noted")
    memory.format_context()

The newest turns are kept word for word. Those that go leave a running digest and can still be found: `format_context(prompt)`
also tells the older turns that the prompt is about. What this costs depends on the budget, never on how much was said before.

It is held in memory; a MemoryManager keeps it on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import Self

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.converse import digest as digests
from hindbrain.converse.digest import Digest
from hindbrain.converse.past import Past
from hindbrain.converse.telling import HEADER, LEAST_CHARS, Budget, chosen, fitting_line
from hindbrain.converse.turns import ConversationConfig, NotAConversation, Turn, as_data, from_data, kept_text, role_of, utc
from hindbrain.recall.excerpt import excerpt
from hindbrain.recall.words import words_of

RELEVANT = 3  # older turns, of those that a prompt is about
_TICK = timedelta(microseconds=1)


class ConversationMemory:
    """One conversation with one backend. Not for several threads at once; a MemoryManager is."""

    def __init__(
        self, max_turns: int = 5, budget_chars: int = 4000, budget_tokens: int | None = None, *, clock: Clock | None = None
    ) -> None:
        self._config = ConversationConfig(max_turns, budget_chars, budget_tokens)
        self._clock = clock or SystemClock()
        self._turns: list[Turn] = []
        self._digest = Digest()
        self.enabled = True  # False: nothing is told and nothing recorded by with_memory
        self.cleared = False  # since it was loaded: what the disk holds is to go as well
        self.evicted: list[Turn] = []  # and not saved yet
        self._unsaved = Past()  # the same, to look in
        self.kept: Past | None = None  # those that were saved

    @property
    def config(self) -> ConversationConfig:
        return self._config

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Those kept word for word, oldest first."""
        return tuple(self._turns)

    @property
    def digest(self) -> str:
        """What the turns before those were about, in one line; "" when there are none."""
        return self._digest.line().removesuffix("\n")

    @property
    def is_empty(self) -> bool:
        return not self._turns

    def __len__(self) -> int:
        return len(self._turns)

    def __bool__(self) -> bool:
        return True  # an empty conversation is one all the same

    def __eq__(self, other: object) -> bool:
        return self._data() == other._data() if isinstance(other, ConversationMemory) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"ConversationMemory({len(self)} turns, {self._digest.turns} before them, {self._config})"

    def record_turn(self, role: str, text: str, at: datetime | None = None) -> Turn:
        """Add what was said; the oldest turn goes when there are too many. A time without a zone is taken as UTC."""
        try:
            moment = datetime.fromtimestamp(self._clock.now_ms() / 1000, UTC) if at is None else utc(at)
        except (OverflowError, AttributeError) as error:
            raise UsageError(f"{at!r} is not a time", hint="give the time at which it was said, as a datetime") from error
        if self._turns:
            moment = max(moment, self._turns[-1].at + _TICK)  # a clock that is set back must not turn the order round
        turn = Turn(role_of(role), kept_text(text), moment)
        self._turns.append(turn)
        self._evict()
        return turn

    def clear(self) -> None:
        """Forget all that was said, on the disk with the next save."""
        self._turns.clear()
        self.evicted.clear()
        self._unsaved.clear()
        self._digest = Digest()
        self.kept = None
        self.cleared = True

    def relevant(self, prompt: str, limit: int = RELEVANT) -> list[Turn]:
        """The turns no longer kept word for word that a prompt is about, oldest first; none where none is."""
        return sorted(self._about(prompt, limit), key=lambda turn: turn.at)

    def _about(self, prompt: str, limit: int) -> list[Turn]:
        """The same, best first."""
        here = {turn.key for turn in self._turns}
        found = [*self._unsaved.find(prompt, limit), *(self.kept.find(prompt, limit) if self.kept is not None else [])]
        found.sort(key=lambda each: each.score, reverse=True)
        best = {each.turn.key: each.turn for each in found if each.turn.key not in here}
        return list(best.values())[:limit]

    def format_context(self, prompt: str = "") -> str:
        """What to tell a backend before the next prompt; "" when there is nothing.

        With the prompt, up to a quarter of the budget goes to older turns that it is about.
        """
        budget = Budget(self._config)
        if not (self._turns or self._digest.turns) or not budget.take(HEADER):
            return ""
        older = self._older(prompt, budget) if prompt else []
        newest = chosen(self._turns, budget)
        before = self._digest.line(budget.fits)
        told = [before, *older, *newest]
        return HEADER + "".join(told) if any(told) else ""

    def _older(self, prompt: str, budget: Budget) -> list[str]:
        """The lines of turns that the prompt is about, from a quarter of the budget."""
        words = words_of(prompt)
        quarter = budget.share(1, 4)
        told: dict[datetime, str] = {}
        for turn in self._about(prompt, RELEVANT):
            line = fitting_line(Turn(turn.role, excerpt(turn.text, stems=words), turn.at), quarter, LEAST_CHARS)
            if line is not None and quarter.take(line) and budget.take(line):
                told[turn.at] = line
        return [told[at] for at in sorted(told)]

    # As JSON, and for who saves it.

    def to_json(self) -> str:
        """In the layout other programs read: the turns word for word and the limits; what is beside them they pass over."""
        return json.dumps(self._data(), ensure_ascii=False, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes, config: ConversationConfig | None = None, *, clock: Clock | None = None) -> Self:
        """The conversation that JSON tells of; a config that is given counts more than the one in there."""
        try:
            data = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotAConversation(f"it is no JSON: {error}") from error
        if not isinstance(data, dict) or not isinstance(data.get("turns"), list):
            raise NotAConversation("it holds no list of turns")
        if not isinstance(data.get("enabled", True), bool):
            raise NotAConversation("it does not say whether it is enabled")
        limits = config or _config(data.get("config"))
        memory = cls(limits.max_turns, limits.budget_chars, limits.budget_tokens, clock=clock)
        memory.enabled = data.get("enabled", True)
        memory._digest = digests.from_data(data.get("digest"))
        memory._hold(from_data(each) for each in data["turns"])
        return memory

    def saved(self, kept: Past) -> None:
        """Note that all of it is on the disk."""
        self.evicted.clear()
        self._unsaved.clear()
        self.kept = kept
        self.cleared = False

    def without(self, judged: Callable[[Turn], bool], past: Iterable[Turn]) -> None:
        """Let go of some turns for good; what is said of those before comes from what is left of the past."""
        self._turns = [turn for turn in self._turns if not judged(turn)]
        self._digest = Digest()
        for turn in past:
            self._digest = self._digest.after(turn)

    def _data(self) -> dict[str, object]:
        limits: dict[str, object] = {"max_turns": self._config.max_turns, "budget_chars": self._config.budget_chars}
        if self._config.budget_tokens is not None:
            limits["budget_tokens"] = self._config.budget_tokens
        data: dict[str, object] = {"turns": [as_data(turn) for turn in self._turns], "config": limits}
        if self._digest.turns:
            data["digest"] = self._digest.as_data()
        if not self.enabled:
            data["enabled"] = False
        return data

    def _hold(self, turns: Iterable[Turn]) -> None:
        """Turns as they were saved; by a program that writes seconds only, two may have the same time."""
        for turn in turns:
            last = self._turns[-1].at if self._turns else None
            self._turns.append(turn if last is None or turn.at > last else Turn(turn.role, turn.text, last + _TICK))
        self._evict()

    def _evict(self) -> None:
        gone = self._turns[: max(0, len(self._turns) - self._config.max_turns)]
        if not gone:
            return
        del self._turns[: len(gone)]
        self.evicted += gone
        self._unsaved.append(gone)
        for turn in gone:
            self._digest = self._digest.after(turn)


def _config(data: object) -> ConversationConfig:
    """The limits that were saved; where one is not a limit, the usual one."""
    usual = ConversationConfig()
    if not isinstance(data, dict):
        return usual

    def limit(name: str, otherwise: int | None) -> int | None:
        value = data.get(name)
        return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else otherwise

    turns, chars = limit("max_turns", None), limit("budget_chars", None)
    return ConversationConfig(
        usual.max_turns if turns is None else turns, usual.budget_chars if chars is None else chars, limit("budget_tokens", None)
    )
