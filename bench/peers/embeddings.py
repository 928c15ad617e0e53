"""Texts in an OpenAI request -> their vectors by Hindbrain's own table, over HTTP on loopback.

One process serves all contenders, so that what differs between them is not the model. It speaks `POST /v1/embeddings` and
nothing else.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from hindbrain.recall.static import Static


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if not self.path.endswith("/embeddings"):
            return self._send(404, {"error": {"message": f"there is no {self.path}"}})
        texts = [asked["input"]] if isinstance(asked["input"], str) else asked["input"]
        vectors = Static.load().documents(texts)
        packed = asked.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": number,
             "embedding": base64.b64encode(vector.tobytes()).decode() if packed else vector.tolist()}
            for number, vector in enumerate(vectors)
        ]  # fmt: skip
        self._send(200, {"object": "list", "model": "shared", "data": data, "usage": {"prompt_tokens": 0, "total_tokens": 0}})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: requests are counted by those who send them."""


def main() -> None:
    """Serve until the input is closed; the first line printed is the address."""
    Static.load()
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        print(f"http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.read()
        server.shutdown()


if __name__ == "__main__":
    main()
