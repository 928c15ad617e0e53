"""A listening socket -> the API Gemini CLI speaks to, with a model that says what a test wants; every request is kept.

Plain HTTP on a real socket, streamed as the API streams. Requests other than for a reply, and those of the client for itself (it
asks a small model which model to use), get a fitting answer and are kept apart.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

Request = dict[str, Any]


class GeminiServer:
    """Serves until closed; `requests` are the bodies that asked for a reply, in the order they came."""

    def __init__(self, listening: socket.socket, reply: Callable[[str], str | int]) -> None:
        self.requests: list[Request] = []
        self.others: list[tuple[str, str]] = []  # what else was asked: method and path
        self.reply = reply  # the model: a prompt as it was sent -> what it says, or the number of an error
        self._http = _Http(("127.0.0.1", 0), _Handler, bind_and_activate=False)
        self._http.socket.close()
        self._http.socket = listening
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(10)

    @property
    def prompts(self) -> list[str]:
        """What the user said in each request: the last content of theirs."""
        return [said_by_user(request) for request in self.requests]


def said_by_user(request: Request) -> str:
    """The text of the last content that is the user's."""
    last = [content for content in request["contents"] if content.get("role") == "user"][-1]
    return "".join(part.get("text", "") for part in last["parts"])


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: GeminiServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that was killed leaves its connection half read; that is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> GeminiServer:
        return cast(_Http, self.server).owner

    def log_message(self, format: str, *args: object) -> None:
        """Tests look at what was kept instead."""

    def do_GET(self) -> None:
        self._other()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urlsplit(self.path).path
        if path.endswith(":countTokens"):
            self._json({"totalTokens": 100})
        elif path.endswith((":streamGenerateContent", ":generateContent")):
            self._generate(json.loads(body), path.endswith(":streamGenerateContent"))
        else:
            self._other()

    def _generate(self, request: Request, stream: bool) -> None:
        wants = request.get("generationConfig", {})
        if "responseJsonSchema" in wants or "responseSchema" in wants:  # the client asks for itself
            self.owner.others.append(("POST", "a choice of the client's own"))
            choice = {"reasoning": "short", "model_choice": "flash", "complexity_reasoning": "short", "complexity_score": 1}
            self._json(_said(json.dumps(choice)))
            return
        self.owner.requests.append(request)
        reply = self.owner.reply(said_by_user(request))
        if isinstance(reply, int):
            self._json({"error": {"code": reply, "message": "as scripted", "status": "INVALID_ARGUMENT"}}, reply)
        elif stream:
            half = len(reply) // 2
            self._stream([_said(reply[:half], ""), _said(reply[half:])] if half else [_said(reply)])
        else:
            self._json(_said(reply))

    def _stream(self, chunks: list[dict[str, Any]]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for chunk in chunks:
            self.wfile.write(f"data: {json.dumps(chunk)}\r\n\r\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def _other(self) -> None:
        self.owner.others.append((self.command, self.path))
        self._json({})

    def _json(self, value: object, status: int = 200) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _said(text: str, finish: str = "STOP") -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 9, "totalTokenCount": 18}}
