"""Teams and agents -> their conversations on the disk, at {base}/{team}/memory/{agent}.json.

    manager = MemoryManager(base)
    manager.save("crew", "ada", memory)
    manager.load("crew", "ada")

Any number of processes and threads may use the same directory at once. `save` replaces a conversation as a whole; who wants to
add to one uses `changing`, which reads, changes and saves it while nobody else does. How a save survives being cut short is
told in `place`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.base.files import storage_error
from hindbrain.converse.conversation import ConversationMemory
from hindbrain.converse.place import Place
from hindbrain.converse.turns import ConversationConfig, NotAConversation, Turn

_NAME_BYTES: Final = 100  # so that every name made of it fits where 255 are allowed
_NAME: Final = re.compile(r"[^\W_](?:[\w .@+=,-]*[\w@+=-])?")
_FILE: Final = re.compile(r"(.+)(?:\.past\.jsonl|\.json(?:\.corrupt-\w+-\w+)?)")
_Names = list[str]  # inside the class `list` is one of its methods


class ConversationWarning(UserWarning):
    """A saved conversation could not be read and was moved aside"""


class MemoryManager:
    """All conversations below one directory."""

    def __init__(
        self, base: str | os.PathLike[str], config: ConversationConfig | None = None, *, timeout: float = 10.0,
        clock: Clock | None = None, warn: Callable[[str], None] | None = None,
    ) -> None:  # fmt: skip
        self.base = Path(base)
        self.config = config  # counts more than what was saved
        self._timeout = timeout
        self._clock = clock or SystemClock()
        self._warn = warn or _warn

    def save(self, team: str, agent: str, memory: ConversationMemory) -> None:
        """Put the conversation in the place of the one that is there; on the disk when this returns."""
        place = self._place(team, agent)
        with place.locked(self._timeout):
            place.save(memory)

    def load(self, team: str, agent: str, config: ConversationConfig | None = None) -> ConversationMemory | None:
        """The conversation as it was last saved, None when there is none. The limits are those given, else as saved."""
        place = self._place(team, agent)
        try:
            return place.read(config or self.config)
        except NotAConversation:
            pass  # under the lock it is certain that nobody is just putting a good one there
        with place.locked(self._timeout):
            return place.read_or_move(config or self.config)

    @contextlib.contextmanager
    def changing(self, team: str, agent: str, config: ConversationConfig | None = None) -> Iterator[ConversationMemory]:
        """The conversation, a new one if there is none, to be changed while nobody else does; saved when the block ends well."""
        place = self._place(team, agent)
        with place.locked(self._timeout):
            memory = place.read_or_move(config or self.config)
            if memory is None:
                given = config or self.config or ConversationConfig()
                memory = ConversationMemory(given.max_turns, given.budget_chars, given.budget_tokens, clock=self._clock)
                memory.kept = place.past
            yield memory
            place.save(memory)

    def delete(self, team: str, agent: str) -> bool:
        """Remove the conversation and its past; False when there was none."""
        place = self._place(team, agent)
        if not place.path.parent.is_dir():
            return False
        with place.locked(self._timeout):
            return place.delete()

    def forget(self, judge: Callable[[str, str, Turn], bool]) -> int:
        """Remove turns of any team and agent, and every copy that may hold them; how many turns those were."""
        gone = 0
        for team in filter(_is_name, _names(self.base)):
            found = {match[1] for name in _names(self.base / team / "memory") if (match := _FILE.fullmatch(name))}
            for agent in sorted(filter(_is_name, found)):
                place = self._place(team, agent)
                with place.locked(self._timeout):
                    gone += place.forget(functools.partial(judge, team, agent))
        return gone

    def migrate(self, source: str | os.PathLike[str]) -> _Names:
        """Take over the conversations of another directory of this layout, as "team/agent"; what is here already stays.

        Nothing is changed there. What is no conversation is passed over with a warning.
        """
        others = MemoryManager(source, clock=self._clock)
        taken: _Names = []
        for team in others.teams():
            for agent in others.list(team):
                if self._take_over(others._place(team, agent), self._place(team, agent)):
                    taken.append(f"{team}/{agent}")
        return taken

    def _take_over(self, old: Place, new: Place) -> bool:
        with new.locked(self._timeout):
            if new.path.exists():
                return False
            try:
                memory = old.read(None)
            except NotAConversation as error:
                self._warn(f"{old.path} is passed over: {error.message}")
                return False
            if memory is not None:
                new.save(memory)
            return memory is not None

    def teams(self) -> _Names:
        """Those that have a conversation, by name."""
        return [name for name in _names(self.base) if _is_name(name) and self.list(name)]

    def list(self, team: str) -> _Names:
        """The agents of a team that have a conversation, by name."""
        names = _names(self._place(team, "agent").path.parent)
        found = [name.removesuffix(".json") for name in names if name.endswith(".json")]
        return sorted(name for name in found if _is_name(name))

    def _place(self, team: str, agent: str) -> Place:
        for what, name in (("a team", team), ("an agent", agent)):
            if not isinstance(name, str) or not _is_name(name):  # type: ignore[redundant-expr]  # callers without types
                hint = f"use letters, digits, spaces and .@+=,-_ up to {_NAME_BYTES} bytes, beginning with a letter or digit"
                raise UsageError(f"{name!r:.120} cannot be the name of {what}", hint=hint)
        return Place(self.base / team / "memory" / f"{agent}.json", self._clock, self._warn)


def _is_name(name: str) -> bool:
    """Whether a name is one part of a path everywhere, and shown as it is."""
    if _NAME.fullmatch(name) is None or ".." in name or not name.isprintable():
        return False
    return len(name.encode("utf-8", "surrogatepass")) <= _NAME_BYTES


def _names(folder: Path) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise storage_error("list", folder, error) from error


def _warn(text: str) -> None:
    warnings.warn(text, ConversationWarning, stacklevel=4)
