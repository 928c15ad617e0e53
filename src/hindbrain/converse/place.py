"""The files of one agent of a team -> its conversation, and the conversation -> its files.

    {agent}.json         the newest turns word for word, the limits, the digest: the layout other programs read too
    {agent}.past.jsonl   the turns before them, one line each; only ever appended to
    {agent}.past.db      what these are found by; derived
    .{agent}.lock        who is saving

A save holds the lock and does this: turns that go are appended to the past and forced to the disk, then the new conversation
takes the place of the old, file and directory synced. Whenever it is cut short, the old conversation or the new one is there,
whole, and no turn is in neither file. Turns that another process saved meanwhile go to the past.
"""

from __future__ import annotations

import contextlib
import glob
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LockTimeout, StorageError
from hindbrain.base.files import Lock, ensure_private_dir, read_private, replace_file, storage_error, sync_directory
from hindbrain.converse.conversation import ConversationMemory
from hindbrain.converse.past import Past
from hindbrain.converse.turns import ConversationConfig, NotAConversation, Turn

MAX_BYTES: Final = 1 << 28  # of a conversation; a larger file is not one
_EVERYTHING: Final = ConversationConfig(max_turns=1 << 31)


class Place:
    """Where one conversation is kept. Nothing is touched by making one."""

    def __init__(self, path: Path, clock: Clock, warn: Callable[[str], None]) -> None:
        self.path = path
        self._clock = clock
        self._warn = warn

    @property
    def past(self) -> Past:
        return Past(self.path.with_name(f"{self.path.stem}.past.jsonl"))

    @contextlib.contextmanager
    def locked(self, timeout: float) -> Iterator[None]:
        """Nobody else changes the conversation meanwhile."""
        ensure_private_dir(self.path.parent)
        lock = Lock(self.path.with_name(f".{self.path.stem}.lock"))
        if not lock.acquire(timeout):
            raise LockTimeout(
                f"the conversation {self.path} is being saved by another process for longer than {timeout:g} s",
                path=str(self.path), hint="try again; if nothing is at work, look who holds the lock beside it",
            )  # fmt: skip
        try:
            yield
        finally:
            lock.release()

    def read(self, config: ConversationConfig | None) -> ConversationMemory | None:
        """The conversation, None when there is none; raises NotAConversation."""
        try:
            data = read_private(self.path, MAX_BYTES)
        except StorageError as error:
            if error.errno is None and self.path.is_file() and self.path.lstat().st_size > MAX_BYTES:
                raise NotAConversation(f"it is larger than {MAX_BYTES} bytes") from error
            raise
        if data is None:
            return None
        memory = ConversationMemory.from_json(data, config, clock=self._clock)
        memory.kept = self.past
        return memory

    # With the lock held.

    def read_or_move(self, config: ConversationConfig | None) -> ConversationMemory | None:
        """The conversation, or None when there is none; what is there and is no conversation is moved aside first."""
        try:
            return self.read(config)
        except NotAConversation as error:
            stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime(self._clock.now_ms() / 1000))
            aside = self.path.with_name(f"{self.path.name}.corrupt-{stamp}-{time.monotonic_ns():x}")
            try:
                self.path.rename(aside)
            except OSError as failed:
                raise storage_error("move aside", self.path, failed) from failed
            sync_directory(self.path.parent)
            self._warn(f"{self.path} is no conversation: {error.message}; it was moved to {aside.name}")
            return None

    def save(self, memory: ConversationMemory) -> None:
        """Put a conversation in the place of the one that is there."""
        past = self.past
        if memory.cleared:
            past.clear()
        else:
            past.append([*self._others(memory), *_brought(memory, past), *memory.evicted])
        replace_file(self.path, memory.to_json().encode())
        memory.saved(past)

    def _others(self, memory: ConversationMemory) -> list[Turn]:
        """Turns on the disk that this conversation knows nothing of: another process saved them, or it is a new one."""
        there = self.read_or_move(_EVERYTHING)
        ours = {turn.key for turn in (*memory.turns, *memory.evicted)}
        return [turn for turn in there.turns if turn.key not in ours] if there is not None else []

    def delete(self) -> bool:
        """Remove the conversation and its past; False when there was none."""
        past = self.past
        there = self.path.exists() or (past.path is not None and past.path.exists())
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        past.clear()
        return there

    def forget(self, judged: Callable[[Turn], bool]) -> int:
        """Remove turns from all files, and every copy that may hold them; how many turns those were."""
        memory, past = self.read_or_move(None), self.past
        name = glob.escape(self.path.stem)
        for pattern in (f"{name}.json.corrupt-*", f".{name}.json.*.tmp", f".{name}.past.jsonl.*.tmp"):
            for copy in self.path.parent.glob(pattern):
                copy.unlink()
        there = [*past.turns()]
        left = [turn for turn in there if not judged(turn)]
        doomed = {turn.key for turn in (*there, *(memory.turns if memory is not None else ())) if judged(turn)}
        if doomed:
            past.replace(left)
        if doomed and memory is not None:
            memory.without(judged, left)
            replace_file(self.path, memory.to_json().encode())
        return len(doomed)


def _brought(memory: ConversationMemory, past: Past) -> list[Turn]:
    """The past of a conversation that was loaded from another place than it is saved to."""
    other = memory.kept
    return [*other.turns()] if other is not None and other.path != past.path else []
