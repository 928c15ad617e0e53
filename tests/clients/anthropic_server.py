"""A listening socket -> the Messages API, spoken by a scripted model, every request kept for the test to look at.

Plain HTTP on a real socket, streamed as the API streams: the client under test cannot tell the difference. Whatever else it
asks for at its start gets an empty answer. A model that is held waits for the test's word; closing ends every wait.
"""

from __future__ import annotations

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, cast
from urllib.parse import urlsplit

from tests.clients.script import Block, Call, Fail, Say, Wait, reply

Request = dict[str, Any]
_USAGE: Final = {"input_tokens": 100, "output_tokens": 20, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}


class AnthropicServer:
    """Serves until closed; `requests` are the bodies of POST /v1/messages, in the order they came."""

    def __init__(self, listening: socket.socket) -> None:
        self.requests: list[Request] = []
        self.others: list[tuple[str, str]] = []  # what else was asked: method and path
        self._closing = False
        self._released: set[str] = set()
        self._came = threading.Condition()
        self._number = itertools.count(1)
        self._http = _Http(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self._http.socket.close()
        self._http.socket = listening
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        with self._came:
            self._closing = True
            self._came.notify_all()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    def keep(self, request: Request) -> int:
        """Remember a request; its number."""
        with self._came:
            self.requests.append(request)
            self._came.notify_all()
        return next(self._number)

    def release(self, name: str) -> None:
        """Let the model go on where its script says HOLD:<name>."""
        with self._came:
            self._released.add(name)
            self._came.notify_all()

    def pause(self, wait: Wait) -> None:
        """Return when a model that waits so may go on."""
        with self._came:
            self._came.wait_for(lambda: self._closing or wait.name in self._released, wait.seconds)

    def wait_for(self, wanted: Callable[[Request], bool], what: str, seconds: float = 60.0) -> Request:
        """The first request that is the wanted one, come or still to come."""

        def found() -> Request | None:
            return next((request for request in self.requests if wanted(request)), None)

        with self._came:
            request = self._came.wait_for(found, seconds)
        if request is None:
            raise AssertionError(f"waited {seconds:g} s in vain for a request: {what}; {len(self.requests)} others came")
        return request


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: AnthropicServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed leaves its connection half read; that is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> AnthropicServer:
        return cast(_Http, self.server).owner

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at what was kept instead."""

    def do_HEAD(self) -> None:
        self._other()

    def do_GET(self) -> None:
        self._other()

    def do_POST(self) -> None:
        body = self._body()
        path = urlsplit(self.path).path
        if path == "/v1/messages/count_tokens":
            self._json({"input_tokens": 100})
        elif path == "/v1/messages":
            request: Request = json.loads(body)
            number = self.owner.keep(request)
            blocks = reply(request)
            if failure := next((block for block in blocks if isinstance(block, Fail)), None):
                self._json({"type": "error", "error": {"type": "api_error", "message": "as scripted"}}, failure.status)
            else:
                (self._stream if request.get("stream") else self._whole)(request, number, blocks)
        else:
            self._other()

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def _other(self) -> None:
        self.owner.others.append((self.command, self.path))
        self._json({})

    def _json(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def _whole(self, request: Request, number: int, blocks: list[Block]) -> None:
        content = [_content(block, number, index) for index, block in enumerate(blocks) if not isinstance(block, Wait)]
        self._json({**_opening(request, number), "content": content, "stop_reason": _stop_reason(blocks)})

    def _stream(self, request: Request, number: int, blocks: list[Block]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in self._events(request, number, blocks):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def _events(self, request: Request, number: int, blocks: list[Block]) -> Iterator[dict[str, Any]]:
        yield {"type": "message_start", "message": _opening(request, number)}
        yield {"type": "ping"}
        index = 0
        for block in blocks:
            if isinstance(block, Wait):
                self.owner.pause(block)
                continue
            content = _content(block, number, index)
            begun = {**content, "text": ""} if content["type"] == "text" else {**content, "input": {}}
            yield {"type": "content_block_start", "index": index, "content_block": begun}
            for delta in _deltas(content):
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
            index += 1
        yield {"type": "message_delta", "delta": {"stop_reason": _stop_reason(blocks), "stop_sequence": None}, "usage": _USAGE}
        yield {"type": "message_stop"}


def _opening(request: Request, number: int) -> dict[str, Any]:
    return {
        "id": f"msg_scripted{number:06d}", "type": "message", "role": "assistant", "model": request.get("model", "unknown"),
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": _USAGE,
    }  # fmt: skip


def _content(block: Block, number: int, index: int) -> dict[str, Any]:
    if isinstance(block, Call):
        return {"type": "tool_use", "id": f"toolu_scripted{number:06d}x{index}", "name": block.tool, "input": dict(block.input)}
    assert isinstance(block, Say)
    return {"type": "text", "text": block.text}


def _deltas(content: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A block in two pieces, cut where it hurts: in the middle."""
    whole = content["text"] if content["type"] == "text" else json.dumps(content["input"])
    half = len(whole) // 2
    for piece in (whole[:half], whole[half:]):
        if content["type"] == "text":
            yield {"type": "text_delta", "text": piece}
        else:
            yield {"type": "input_json_delta", "partial_json": piece}


def _stop_reason(blocks: list[Block]) -> str:
    return "tool_use" if any(isinstance(block, Call) for block in blocks) else "end_turn"
