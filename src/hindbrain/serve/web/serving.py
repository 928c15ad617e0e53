"""A port -> pages on this machine, until somebody ends it.

The socket is bound to the loopback address and to no other; there is no setting for it. It listens before the address is told, so
whoever is quick waits instead of being refused.
"""

from __future__ import annotations

import contextlib
import errno
import socket
from collections.abc import Callable
from typing import Final

import uvicorn

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import UsageError
from hindbrain.serve.web.door import Door
from hindbrain.serve.web.guard import ENTER
from hindbrain.serve.web.pages import application

ADDRESS: Final = "127.0.0.1"
_LAST_SECONDS: Final = 2  # for pages that are still being made when it ends


class Web:
    """A server that listens already, and the link that leads in. `renewed` is told each link that takes a used one's place."""

    def __init__(self, config: Callable[[], Config], clock: Clock, port: int, renewed: Callable[[str], None]) -> None:
        self._socket = _listening(port)
        self.port = int(self._socket.getsockname()[1])
        self.door = Door(lambda code: renewed(self._link(code)))
        self._server = uvicorn.Server(uvicorn.Config(
            application(config, clock, self.door, self.port), http="h11", ws="none", lifespan="off", loop="asyncio",
            log_config=None, log_level="error", access_log=False, proxy_headers=False, server_header=False, date_header=False,
            timeout_graceful_shutdown=_LAST_SECONDS,
        ))  # fmt: skip

    @property
    def link(self) -> str:
        """Good once."""
        return self._link(self.door.code)

    def run(self) -> None:
        """Serve until a signal, or end()."""
        with contextlib.closing(self._socket):
            self._server.run(sockets=[self._socket])

    def end(self) -> None:
        """Have run() return."""
        self._server.should_exit = True

    def _link(self, code: str) -> str:
        # What stands behind the # stays in the browser: it is in no request and no log.
        return f"http://{ADDRESS}:{self.port}{ENTER}#{code}"


def _listening(port: int) -> socket.socket:
    try:
        return socket.create_server((ADDRESS, port))
    except OSError as error:
        why = {errno.EADDRINUSE: "another program has it", errno.EACCES: "it is reserved"}.get(error.errno or 0, error.strerror)
        raise UsageError(f"port {port} cannot be used: {why}", hint="leave --port out, and a free one is taken") from error
