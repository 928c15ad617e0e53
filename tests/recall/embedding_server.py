"""A server on loopback that speaks both protocols of embedders, honestly or as a test wishes."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any
from zlib import crc32

Json = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What is sent back. Chunks that are not in the announced length, or come for ever, make a bad server."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None  # the length the head tells; by default the true one
    drips: bool = False  # a byte now and then, for ever


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: Json


class EmbeddingServer:
    """Remembers what it was asked. `answer` makes the reply; by default an honest one of `width` numbers a text."""

    def __init__(self) -> None:
        self.width = 8
        self.requests: list[Request] = []
        self.answer: Callable[[Request], Reply] = self.honest
        self.closing = threading.Event()
        self.url = ""

    def honest(self, request: Request) -> Reply:
        rows = [vector_of(text, self.width) for text in request.body["input"]]
        if request.path.endswith("/api/embed"):
            return as_json({"model": request.body["model"], "embeddings": rows})
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        return as_json({"object": "list", "data": data[::-1], "usage": {}})  # the order is told by the index alone


def as_json(value: object, status: int = 200, **headers: str) -> Reply:
    return Reply(json.dumps(value).encode(), status, headers)


def vector_of(text: str, width: int) -> list[float]:
    """Not of length 1, and another one for another text."""
    return [crc32(f"{place} {text}".encode()) / 2**31 - 1 for place in range(width)]


@contextmanager
def serving() -> Iterator[EmbeddingServer]:
    """A server that runs until the block is left."""
    state = EmbeddingServer()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            request = Request(self.path, dict(self.headers), body)
            state.requests.append(request)
            reply = state.answer(request)
            self.send_response(reply.status)
            length = reply.announced if reply.announced is not None else len(reply.body)
            for name, value in {"Content-Length": str(length), **reply.headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            try:
                self.wfile.write(reply.body)
                while reply.drips and not state.closing.wait(0.01):
                    self.wfile.write(b" ")
            except OSError:
                pass  # the other side had enough

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingTCPServer(("127.0.0.1", 0), Handler)  # the HTTP one asks the network for this machine's name
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
