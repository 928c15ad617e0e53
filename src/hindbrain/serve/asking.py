"""Hook calls that may be answered -> answers, over a socket that only this user can reach.

A thread of the worker with a reading connection of its own, so an answer does not wait for what is being taken in. Where a
ledger is shared, what fits is looked for there first; who asks, and what he was told, is known from the home's own. One
request is one line that names the event and the size, then the payload as the agent sent it; the answer is the bytes
the hook prints, and a final newline that says it is whole. What was told to which session is noted, so that nobody is
told twice.
"""

from __future__ import annotations

import contextlib
import copy
import json
import logging
import os
import queue
import socket
import threading
import time
import zlib
from collections.abc import Callable
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerBusy
from hindbrain.base.files import ensure_private_dir, replace_file
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id, storable
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.project import resolve
from hindbrain.ledger.store import Ledger
from hindbrain.recall import context, rank
from hindbrain.recall.context import Asked
from hindbrain.serve.answer import BUDGETS, MAX_SOCKET_PATH, known_text, question, shaped
from hindbrain.serve.health import complaint
from hindbrain.serve.warm import NoAnswer, Warm

log = logging.getLogger("hindbrain.asking")

_MAX_REQUEST: Final = 2 << 20
_PEER_SECONDS: Final = 0.5
_MAX_PROMPT: Final = 4_000

Told = tuple[str, list[str], int]
Build = Callable[[Database, Asked, str], tuple[str, list[rank.Found]]]


class Asking(threading.Thread):
    """Answers until it is stopped. `told` holds what was said to whom, for the worker to write down."""

    def __init__(
        self, home: Home, clock: Clock, warm: Warm | None = None, trouble: Callable[[], str] = lambda: "",
        build: Build = context.build,
    ) -> None:  # fmt: skip
        super().__init__(name="asking", daemon=True)
        self._warm = warm
        self._trouble = trouble  # of sharing, in words for the agent
        self._build = build
        self.told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._home = home
        self._clock = clock
        self._stopping = False
        self._just_told: dict[str, set[str]] = {}
        self._last_prompt: dict[str, str] = {}
        self._socket: socket.socket | None = None

    def open(self) -> bool:
        """Take the socket's place in the home; False where its path is too long for one (then hooks ask the ledger)."""
        path = os.fsencode(self._home.root / "ask")
        if len(path) > MAX_SOCKET_PATH:
            log.info("no socket: the path of the home is too long")
            return False
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)  # a worker that was killed left it; the lock says that none is there now
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(path)
        os.chmod(path, 0o600)
        self._socket.listen(64)
        return True

    def close(self) -> None:
        """Stop answering and take the socket away."""
        self._stopping = True
        if self.is_alive():
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as bell:
                bell.connect(os.fsencode(self._home.root / "ask"))  # wakes the thread, which waits for the next question
            self.join(timeout=5)
        self._hang_up()

    def run(self) -> None:
        try:
            with Ledger.open(self._home.ledger, self._clock, read_only=True) as ledger:
                while not self._stopping:
                    self._next(ledger)
        except Exception:  # the thread's end, and the log says why
            log.exception("answering ends")
        finally:
            self._hang_up()  # hooks ask the ledger themselves from here on, and need not wait for that

    def _hang_up(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(self._home.root / "ask")
            self._socket.close()
            self._socket = None

    def _next(self, ledger: Ledger) -> None:
        assert self._socket is not None
        peer, _ = self._socket.accept()
        with peer:
            if self._stopping:
                return
            try:
                event, payload = _request(peer, time.monotonic() + _PEER_SECONDS)
                peer.settimeout(_PEER_SECONDS)
                peer.sendall(self.answer(ledger, event, payload) + b"\n")
            except LedgerBusy as error:
                log.info("a question was not answered: %s", error.message)
            except (OSError, ValueError) as error:
                log.info("a question was not answered: %s", error)
            except HindbrainError:
                raise  # the ledger itself: it is opened anew
            except Exception:  # the boundary of one question: the next may well be answered
                log.exception("a question was not answered")

    def answer(self, ledger: Evidence, event: str, payload: dict[str, object]) -> bytes:
        """The bytes for one hook call."""
        parent = str(payload.get("session_id", ""))
        session = session_id("claude-code", parent)
        # a subagent starts with nothing of what its parent was told
        hearer = session_id("claude-code", f"{parent}/{payload.get('agent_id', '')}") if event == "SubagentStart" else session
        if payload.get("source") == "compact":
            self._just_told.pop(hearer, None)  # what was told before went into a summary
        if event == "UserPromptSubmit":
            self._last_prompt[session] = str(payload.get("prompt", ""))[:_MAX_PROMPT]
        cwd = str(payload.get("cwd", ""))
        asked = question(event, rank.Scope(None), session, str(payload.get("prompt", "")), self._already(ledger, hearer, payload))
        asked.known_text = known_text(cwd)
        if event == "SubagentStart":  # the prompt it works on may not be stored yet
            asked.prompt = self._last_prompt.get(session) or _last_prompt(ledger, session)
        health = (complaint(self._home, ledger, self._clock) or self._trouble()) if event == "SessionStart" else ""
        text, found = self._found(ledger, cwd, asked, health)
        said = [each.id for each in found]
        self._just_told.setdefault(hearer, set()).update(said)
        self.told.put((hearer, said, self._clock.now_ms()))
        if event == "SessionStart":
            self._prepare(cwd, shaped(event, text))
        return shaped(event, text)

    def _found(self, ledger: Evidence, cwd: str, asked: Asked, health: str) -> tuple[str, list[rank.Found]]:
        """What fits, from the shared ledger if it answers in time, else from the home's own."""
        project, identity = project_of(ledger, cwd)

        def build(other: Evidence) -> tuple[str, list[rank.Found]]:
            mine = copy.copy(asked)  # one that comes too late is still at work while the next ledger is asked
            with other.reading() as connection:
                mine.scope = rank.Scope(project or _known_as(connection, identity))
                return self._build(connection, mine, health)

        if self._warm is not None:
            with contextlib.suppress(NoAnswer):
                return self._warm.ask(build)
        return build(ledger)

    def _already(self, ledger: Evidence, session: str, payload: dict[str, object]) -> frozenset[str]:
        if payload.get("source") == "compact":
            return frozenset()
        with ledger.reading() as connection:
            rows = connection.execute("SELECT item_id FROM injections WHERE session_id = ?", (session,)).fetchall()
        return frozenset({row[0] for row in rows} | self._just_told.get(session, set()))

    def _prepare(self, cwd: str, answer: bytes) -> None:
        """For a start when neither worker nor ledger can be asked."""
        try:
            folder = ensure_private_dir(self._home.root / "prepared")
            raw = cwd.encode("utf-8", "surrogatepass")
            replace_file(folder / f"{zlib.crc32(raw):08x}", raw + b"\0" + answer)
        except HindbrainError as error:
            log.info("no block was prepared: %s", error.message)


def project_of(ledger: Evidence, cwd: str) -> tuple[str | None, str]:
    """The project a folder belongs to as an earlier session found it, else None, and what the folder is now."""
    place = ledger.place(cwd)
    return (place[1], place[0]) if place is not None else (None, storable(resolve(cwd).identity))


def _known_as(connection: Database, identity: str) -> str | None:
    """The project of an identity; None when nothing is stored of it."""
    row = connection.execute("SELECT project_id FROM project_aliases WHERE identity = ?", (identity,)).fetchone()
    return None if row is None else str(row[0])


def _last_prompt(ledger: Evidence, session: str) -> str:
    with ledger.reading() as connection:
        return context.last_prompt(connection, session)


def _received(peer: socket.socket, deadline: float) -> bytes:
    """The next piece; whoever takes longer than all others together may wait for is not waited for."""
    peer.settimeout(max(0.001, deadline - time.monotonic()))
    if not (piece := peer.recv(65536)):
        raise ValueError("the question ended early")
    return piece


def _request(peer: socket.socket, deadline: float) -> tuple[str, dict[str, object]]:
    data = b""
    while b"\n" not in data and len(data) < 64:
        data += _received(peer, deadline)
    head, _, body = data.partition(b"\n")
    event, _, size = head.decode("ascii", "replace").partition(" ")
    if event not in BUDGETS or not size.isdigit() or int(size) > _MAX_REQUEST:
        raise ValueError("not a question of ours")
    blocks, missing = [body], int(size) - len(body)
    while missing > 0:
        piece = _received(peer, deadline)
        blocks.append(piece)
        missing -= len(piece)
    try:
        payload = json.loads(b"".join(blocks))
    except RecursionError as error:
        raise ValueError("nested too deep") from error
    if not isinstance(payload, dict):
        raise ValueError("an object was expected")
    return event, payload
