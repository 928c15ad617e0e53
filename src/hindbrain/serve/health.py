"""A home -> the one sentence an agent should pass on to its user, when something is wrong; nothing otherwise.

Memory that stopped working in silence is worse than none: everybody goes on trusting it. So the start of a session says what
`status` would show: events lost, a disk that is nearly full, lines that wait and are not taken in, hooks that no longer fire.
"""

from __future__ import annotations

import os
import shutil
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.home import Home
from hindbrain.journal import losses
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import segment_source
from hindbrain.serve.drain import capture_began_ms
from hindbrain.serve.status import lag

ASK: Final = "tell the user to run: hindbrain doctor"
LOW_DISK_BYTES: Final = 50 << 20
LAG_SECONDS: Final = 300.0
SILENT_MS: Final = 3 * 24 * 3600 * 1000
# A loss older than this is history; `status` still shows it.
_LOSS_NS: Final = 24 * 3600 * 1_000_000_000

# Sessions since a time: how many a transcript told of (8), and how many a hook (1).
_TOLD_BY: Final = """
SELECT coalesce(sum(EXISTS (SELECT 1 FROM turns WHERE session_id = sessions.id AND origins & 8)), 0),
       coalesce(sum(EXISTS (SELECT 1 FROM turns WHERE session_id = sessions.id AND origins & 1)), 0)
FROM sessions WHERE started_at > ?
"""


def complaint(home: Home, ledger: Evidence, clock: Clock) -> str:
    """What is wrong, the worst first; "" when nothing is."""
    lost = losses.read(os.fsencode(home.root), dict(os.environb))
    if lost.count and clock.now_ms() * 1_000_000 - lost.last_ns < _LOSS_NS:
        return f"Hindbrain could not keep {lost.count} events ({lost.reason}); {ASK}"
    free = shutil.disk_usage(home.root).free
    if free < LOW_DISK_BYTES:
        return f"Hindbrain has only {free >> 20} MB of disk left and will soon lose events; {ASK}"
    offsets = {name.removeprefix(segment_source("")): at for name, at in ledger.cursors(segment_source("")).items()}
    waiting = lag(home, {name: at for name, at in offsets.items() if isinstance(at, int)}, clock)
    if waiting.oldest_seconds is not None and waiting.oldest_seconds > LAG_SECONDS:
        return f"Hindbrain has not stored {waiting.lines} events for {waiting.oldest_seconds / 60:.0f} minutes; {ASK}"
    # what an import brought from before the installation says nothing about hooks
    since = max(clock.now_ms() - SILENT_MS, capture_began_ms(home))
    with ledger.reading() as connection:
        by_transcripts, by_hooks = connection.execute(_TOLD_BY, (since,)).fetchone()
    if by_transcripts and not by_hooks:
        return f"Hindbrain's hooks did not fire in the last {by_transcripts} sessions, only transcripts told of them; {ASK}"
    return ""
