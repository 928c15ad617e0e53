"""A listening socket -> a model server that speaks OpenAI's and Anthropic's protocols, honestly or as a test wishes.

`replies` are used up one after the other, the last one for ever. A reply is a text the model wrote (wrapped into the protocol
that was spoken), or raw bytes on the wire, or a way to misbehave.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingTCPServer
from typing import Any, cast


@dataclass(frozen=True)
class Reply:
    """What is sent back."""

    text: str | None = None  # of the model, wrapped as its protocol wants
    body: bytes = b""  # used as it is where there is no text
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    announced: int | None = None  # the length the head tells; by default the true one
    stop: str = ""  # "refusal" or "length": how the model says it stopped
    drips: bool = False  # a byte now and then, for ever
    hangs: str = ""  # "head": nothing at all comes; "body": half of it
    resets: bool = False  # the connection is reset in the middle
    charset: str = ""  # the text is encoded so, and the head says so
    encoding: str = ""  # it is encoded so, whatever the head says
    tokens: tuple[int, int] = (100, 20)


@dataclass
class Request:
    path: str
    headers: dict[str, str]
    body: dict[str, Any]

    @property
    def system(self) -> str:
        """What the model is told first, in either protocol."""
        if "messages" in self.path:
            found = self.body["system"]
            return found if isinstance(found, str) else "".join(part["text"] for part in found)
        return str(next(each["content"] for each in self.body["messages"] if each["role"] in ("system", "developer")))

    @property
    def text(self) -> str:
        """What it is asked, in either protocol."""
        content = next(each["content"] for each in reversed(self.body["messages"]) if each["role"] == "user")
        return content if isinstance(content, str) else "".join(part["text"] for part in content)


class ModelServer:
    """Remembers what it was asked."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.replies: list[Reply] = [Reply("{}")]
        self.faults: list[str] = []  # of this server itself
        self.closing = threading.Event()
        self.url = ""
        self._read = threading.Condition()

    def heard(self, request: Request) -> None:
        with self._read:
            self.requests.append(request)
            self._read.notify_all()

    def asked(self, wanted: int) -> int:
        """How often it was asked: who gave up on an answer did so, perhaps, before the request was read here."""
        with self._read:
            self._read.wait_for(lambda: len(self.requests) >= wanted, timeout=30)
            return len(self.requests)

    def next_reply(self) -> Reply:
        return self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]


def body_of(request: Request, reply: Reply) -> bytes:
    """What the model wrote, in the protocol that was spoken."""
    assert reply.text is not None
    protocol = next((form for end, form in _PROTOCOLS.items() if request.path.partition("?")[0].endswith(end)), _openai)
    wrapped = protocol(request, reply)
    encoding = reply.encoding or reply.charset
    return json.dumps(wrapped, ensure_ascii=not encoding).encode(encoding or "utf-8")


def _openai(request: Request, reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.stop == "refusal":
        message = {"role": "assistant", "content": None, "refusal": reply.text}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_790_000_000, "model": request.body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "length" if reply.stop == "length" else "stop"}],
        "usage": {"prompt_tokens": reply.tokens[0], "completion_tokens": reply.tokens[1], "total_tokens": sum(reply.tokens)},
    }  # fmt: skip


def _anthropic(request: Request, reply: Reply) -> dict[str, Any]:
    stop = {"refusal": "refusal", "length": "max_tokens", "": "end_turn"}[reply.stop]
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": request.body["model"], "stop_reason": stop,
        "stop_sequence": None, "content": [{"type": "text", "text": reply.text}],
        "usage": {"input_tokens": reply.tokens[0], "output_tokens": reply.tokens[1]},
    }  # fmt: skip


def _gemini(request: Request, reply: Reply) -> dict[str, Any]:
    put_in, put_out = reply.tokens
    return {
        "candidates": [{"content": {"role": "model", "parts": [{"text": reply.text}]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": put_in, "candidatesTokenCount": put_out, "totalTokenCount": put_in + put_out},
        "modelVersion": "small",
    }  # fmt: skip


_PROTOCOLS = {"/messages": _anthropic, ":generateContent": _gemini}


class _Handler(BaseHTTPRequestHandler):
    @property
    def state(self) -> ModelServer:
        return cast(_Server, self.server).state

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        request = Request(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        self.state.heard(request)
        try:
            self._send(request, self.state.next_reply())
        except OSError:
            pass  # the other side had enough

    def _send(self, request: Request, reply: Reply) -> None:
        closing = self.state.closing
        if reply.hangs == "head":
            closing.wait(30)
            return
        data = reply.body if reply.text is None else body_of(request, reply)
        self._head(reply, len(data) if reply.announced is None else reply.announced)
        if reply.hangs == "body" or reply.resets:
            data = data[: len(data) // 2]
        self.wfile.write(data)
        self.wfile.flush()
        while reply.drips and not closing.wait(0.02):
            self.wfile.write(b" ")
        if reply.hangs:
            closing.wait(30)
        if reply.resets:
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.connection.close()

    def _head(self, reply: Reply, length: int) -> None:
        kind = f"application/json; charset={reply.charset}" if reply.charset else "application/json"
        self.send_response(reply.status)
        for name, value in {"Content-Type": kind, "Content-Length": str(length), **reply.headers}.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


class _Server(ThreadingTCPServer):  # the HTTP one asks the network for this machine's name
    daemon_threads = True
    state: ModelServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A reset leaves the handler with a closed socket, which some tests are about; anything else is a fault of ours."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError | ValueError):
            self.state.faults.append(repr(error))


@contextmanager
def serving(replies: Sequence[Reply] = ()) -> Iterator[ModelServer]:
    """A server that runs until the block is left."""
    server = _Server(("127.0.0.1", 0), _Handler)
    state = server.state = ModelServer()
    state.replies = list(replies) or state.replies
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
        assert state.faults == []
