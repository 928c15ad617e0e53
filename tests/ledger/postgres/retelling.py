"""A server that says something else about itself than is true: every byte goes through, except for what a test replaces."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator

OLD = (rb"(server_version\x00)\d\d(\.\d+\x00)", rb"\g<1>13\g<2>")
NEW_ENOUGH = (rb"(server_version\x00)\d\d(\.\d+\x00)", rb"\g<1>14\g<2>")
# The process that serves us, as a pooler tells it: a number of its own.
POOLED = (rb"(K\x00\x00\x00.)....", b"\\g<1>\x00\x00\x00\x01")


@contextlib.contextmanager
def retelling(port: int, change: tuple[bytes, bytes]) -> Iterator[int]:
    """A port behind which the server on `port` tells something else, of the same length."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=_serve, args=(listening, port, change), daemon=True)
        thread.start()
        yield int(listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def _serve(listening: socket.socket, port: int, change: tuple[bytes, bytes]) -> None:
    while True:
        try:
            client, _ = listening.accept()
        except OSError:
            return
        server = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=_pass_on, args=(client, server, None), daemon=True).start()
        threading.Thread(target=_pass_on, args=(server, client, change), daemon=True).start()


def _pass_on(source: socket.socket, target: socket.socket, change: tuple[bytes, bytes] | None) -> None:
    with contextlib.suppress(OSError), contextlib.closing(target):
        while data := source.recv(1 << 16):
            target.sendall(data if change is None else re.sub(change[0], change[1], data, flags=re.DOTALL))
