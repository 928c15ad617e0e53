"""The queue as it is meant, in plain Python: one dictionary, no SQL, no concurrency. What the engines do is held against it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

LEASE_MS = 10_000
Failure = Literal["retry", "later", "park"]


@dataclass
class Row:
    """A job; the names are those of the table."""

    id: int
    key: str
    group_key: str
    payload: int
    priority: int
    forced: int
    max_attempts: int
    state: str
    run_after_ms: int
    changed_ms: int
    again: int = 0
    attempts: int = 0
    crashes: int = 0
    delays: int = 0
    token: int = 0
    lease_until: int = 0

    @property
    def live(self) -> bool:
        return self.state in ("waiting", "ready", "running")

    @property
    def backing_off(self) -> bool:
        return self.state == "waiting" and (self.attempts > 0 or self.delays > 0)


@dataclass
class Model:
    now: int
    tick: int
    rows: dict[int, Row] = field(default_factory=dict)

    def live(self, key: str) -> Row | None:
        return next((row for row in self.rows.values() if row.key == key and row.live), None)

    def tell(self, identifier: int, new: dict[str, Any]) -> None:
        """A job was told and is said to have this id."""
        delay = int(new["delay_seconds"] * 1000)
        found = self.live(new["key"])
        if found is None:
            assert identifier not in self.rows, "an id was used twice"
            self.rows[identifier] = Row(
                identifier, new["key"], new["group"], new["payload"], new["priority"], int(new["forced"]), new["max_attempts"],
                "waiting" if delay else "ready", self.now + delay, self.now,
            )  # fmt: skip
            return
        assert identifier == found.id, "a live job was doubled"
        found.payload, found.priority = new["payload"], max(found.priority, new["priority"])
        found.forced |= int(new["forced"])
        if found.state == "running":
            found.run_after_ms = min(found.run_after_ms, self.now + delay) if found.again else self.now + delay
            found.again, found.changed_ms = 1, self.now
        elif found.state == "waiting" and not found.backing_off:
            if self.now + delay < found.run_after_ms:
                found.run_after_ms, found.changed_ms = self.now + delay, self.now
            found.state = found.state if delay else "ready"

    def busy(self, group: str) -> bool:
        return bool(group) and any(row.group_key == group and row.state == "running" for row in self.rows.values())

    def _run(self, rows: list[Row]) -> list[Row]:
        for row in rows:
            row.state, row.attempts, row.token = "running", row.attempts + 1, row.token + 1
            row.lease_until, row.changed_ms = self.tick + LEASE_MS, self.now
        return sorted(rows, key=lambda row: (-row.priority, row.id))

    def claim(self, limit: int) -> list[Row]:
        ready = [row for row in self.rows.values() if row.state == "ready" and row.crashes == 0 and not self.busy(row.group_key)]
        head = sorted(ready, key=lambda row: (-row.priority, row.id))[:limit]
        groups = {row.group_key for row in head if row.group_key}
        return self._run([row for row in ready if row in head or row.group_key in groups])

    def claim_suspect(self) -> list[Row]:
        ready = [row for row in self.rows.values() if row.state == "ready" and row.crashes > 0 and not self.busy(row.group_key)]
        if not ready:
            return []
        first = min(ready, key=lambda row: row.id)
        together = first.group_key and first.crashes == 1
        mates = [row for row in ready if row.group_key == first.group_key and row.crashes == 1] if together else [first]
        return self._run(mates)

    def held(self, claimed: list[tuple[int, int]]) -> list[Row]:
        running = {row.id: row for row in self.rows.values() if row.state == "running"}
        return [running[each] for each, token in claimed if each in running and running[each].token == token]

    def heartbeat(self, claimed: list[tuple[int, int]]) -> set[int]:
        for row in (ours := self.held(claimed)):
            row.lease_until = self.tick + LEASE_MS
        return {row.id for row in ours}

    def finish(self, claimed: list[tuple[int, int]]) -> bool:
        ours = self.held(claimed)
        if len(ours) != len(claimed):
            return False
        for row in ours:
            if row.again:
                row.state = "waiting" if row.run_after_ms > self.now and row.changed_ms <= self.now else "ready"
                row.attempts = row.crashes = row.delays = row.again = 0
            else:
                row.state = "done"
            row.changed_ms = self.now
        return True

    def fail(self, claimed: list[tuple[int, int]], how: Failure, later_ms: int) -> bool:
        ours = self.held(claimed)
        if len(ours) != len(claimed):
            return False
        for row in ours:
            wait, parked = 0, how == "park" or (how == "retry" and row.attempts >= row.max_attempts)
            if how == "later":
                row.attempts, row.delays, wait = row.attempts - 1, row.delays + 1, later_ms
            elif not parked:
                wait = min(2000 * 2 ** (row.attempts - 1), 3_600_000)
            row.state = "waiting" if not parked else "ready" if row.again else "parked"
            if row.state == "ready":
                row.attempts = row.delays = 0
            row.run_after_ms, row.changed_ms, row.again = self.now + wait, self.now, 0
        return True

    def release(self, claimed: list[tuple[int, int]]) -> None:
        for row in self.held(claimed):
            row.state, row.attempts, row.again, row.changed_ms = "ready", row.attempts - 1, 0, self.now

    def promote(self) -> int:
        waiting = [row for row in self.rows.values() if row.state == "waiting"]
        due = [row for row in waiting if row.run_after_ms <= self.now or row.changed_ms > self.now]
        for row in due:
            row.state, row.changed_ms = "ready", self.now
        return len(due)

    def reap(self) -> tuple[int, int]:
        running = [row for row in self.rows.values() if row.state == "running"]
        over = [row for row in running if not self.tick < row.lease_until <= self.tick + LEASE_MS]
        for row in over:
            row.crashes, row.again, row.changed_ms = row.crashes + 1, 0, self.now
            row.state = "parked" if row.crashes >= 3 or row.attempts >= row.max_attempts else "ready"
        parked = sum(row.state == "parked" for row in over)
        return len(over) - parked, parked

    def prune(self, keep_ms: int) -> int:
        ended = [row for row in self.rows.values() if row.state in ("done", "cancelled")]
        gone = [row for row in ended if abs(self.now - row.changed_ms) > keep_ms]
        for row in gone:
            del self.rows[row.id]
        return len(gone)

    def retry(self, ids: list[int]) -> int:
        newest = {row.key: row for row in sorted(map(self.rows.__getitem__, ids), key=lambda row: row.id)
                  if row.state in ("parked", "cancelled") and not self.live(row.key)}  # fmt: skip
        for row in newest.values():
            row.state, row.run_after_ms, row.changed_ms = "ready", self.now, self.now
            row.attempts = row.crashes = row.delays = 0
        return len(newest)

    def cancel(self, ids: list[int]) -> int:
        ended = [row for row in map(self.rows.__getitem__, ids) if row.live or row.state == "parked"]
        for row in ended:
            row.state, row.again, row.changed_ms = "cancelled", 0, self.now
        return len(ended)
