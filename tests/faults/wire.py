"""A PostgreSQL server -> the same server behind a wire that can be cut at any request, or go silent.

The proxy knows just enough of the protocol to count requests: a plain query, or a batch that ends with a Sync. At the chosen
request it has the server end the backend, before the request reaches it or after its answer is complete and still unseen.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from dataclasses import dataclass, field
from typing import Final, Literal

import psycopg

from tests.postgres import Cluster

When = Literal["before", "after"]
_REQUEST: Final = (b"Q", b"S")
_READY: Final = b"Z"
_KEY: Final = b"K"


@dataclass
class Plan:
    """At which request, counted over all connections from 1, the backend ends; 0 for never."""

    at: int = 0
    when: When = "before"
    seen: int = 0
    fired: bool = False
    silent: bool = False  # nothing is passed on any more, in either direction, and nothing is closed
    requests: list[bytes] = field(default_factory=list[bytes])


class Wire:
    """Listens on a port of its own; `url()` goes through it. Use as a context manager."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.plan = Plan()
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Wire:
        self._accepting.start()
        return self

    def __exit__(self, *_: object) -> None:
        # closing alone would leave the accepting thread asleep
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        self._accepting.join(timeout=10)

    def url(self, url: str) -> str:
        """The same database, through the wire."""
        return url.replace(f":{self._cluster.port}/", f":{self.port}/") + "?sslmode=disable&gssencmode=disable"

    def arm(self, at: int, when: When) -> Plan:
        """Begin to count anew."""
        with self._lock:
            self.plan = Plan(at, when)
        return self.plan

    def cut(self) -> None:
        """Close every connection there is, without a word."""
        with self._lock:
            sockets, self._open = self._open, []
        for each in sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._cluster.port), timeout=10)
            except OSError:
                client.close()
                continue
            server.settimeout(None)
            for each in (client, server):  # else an answer in several parts waits for the kernel's delayed acknowledgement: 40 ms
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with self._lock:
                self._open += [client, server]
            threading.Thread(target=_Link(self, client, server).run, daemon=True).start()

    def due(self, request: bytes) -> bool:
        """Count one request; True for the one at which the backend is to end."""
        with self._lock:
            plan = self.plan
            plan.seen += 1
            plan.requests.append(request[:200])
            if plan.fired or plan.seen != plan.at:
                return False
            plan.fired = True
            return True

    def end_backend(self, pid: int) -> None:
        """Have the server end it, and wait until it is gone."""
        with psycopg.connect(self._cluster.url(), autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(%s)", (pid,))
            deadline = time.monotonic() + 30
            while admin.execute("SELECT 1 FROM pg_stat_activity WHERE pid = %s", (pid,)).fetchone():
                if time.monotonic() > deadline:
                    raise AssertionError(f"the backend {pid} does not end")
                time.sleep(0.002)


class _Link:
    """One connection: its two directions."""

    def __init__(self, wire: Wire, client: socket.socket, server: socket.socket) -> None:
        self._wire = wire
        self._client = client
        self._server = server
        self._pid = 0
        self._hold = threading.Event()  # answers are read but not passed on
        self._answered = threading.Event()

    def run(self) -> None:
        answers = threading.Thread(target=self._answers, daemon=True)
        with contextlib.suppress(OSError):
            first = _exactly(self._client, 4)
            self._server.sendall(first + _exactly(self._client, int.from_bytes(first, "big") - 4))
            answers.start()
            self._requests()
        self._close()

    def _close(self) -> None:
        for each in (self._client, self._server):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def _requests(self) -> None:
        held = b""
        while True:
            kind, message = _message(self._client)
            if not kind:
                return
            held += message
            if kind not in _REQUEST:
                if kind in (b"p", b"H", b"X"):  # a password, or a wish to have answers now
                    self._server.sendall(held)
                    held = b""
                continue
            plan = self._wire.plan
            due = self._wire.due(held)
            if plan.silent:
                continue
            if due and plan.when == "before":
                self._wire.end_backend(self._pid)
                return
            if due:
                self._answered.clear()
                self._hold.set()
                self._server.sendall(held)
                self._answered.wait(timeout=60)
                self._wire.end_backend(self._pid)
                return
            self._server.sendall(held)
            held = b""

    def _answers(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                kind, message = _message(self._server)
                if not kind:
                    break
                if kind == _KEY:
                    self._pid = int.from_bytes(message[5:9], "big")
                if kind == _READY:
                    self._answered.set()
                if not self._hold.is_set() and not self._wire.plan.silent:
                    self._client.sendall(message)
        self._answered.set()
        self._close()


def _message(source: socket.socket) -> tuple[bytes, bytes]:
    """A message's kind, and all of it; nothing at the end."""
    head = _exactly(source, 5)
    if len(head) < 5:
        return b"", b""
    return head[:1], head + _exactly(source, int.from_bytes(head[1:5], "big") - 4)


def _exactly(source: socket.socket, size: int) -> bytes:
    held = b""
    while len(held) < size:
        piece = source.recv(size - len(held))
        if not piece:
            return b""
        held += piece
    return held
