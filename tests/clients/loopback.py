"""Nothing -> a network of its own in which there is only the loopback device, and a socket that listens in it.

The client under test runs inside and cannot reach anything but that socket, whatever it tries. A small process holds the
namespace open and hands its listening socket out; a socket stays in the network it was made in, so the server can be part of
the test process.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Runs inside: brings the loopback device up, listens, sends the socket out and stays until its stdin is closed.
_HOLDER: Final = """
import fcntl, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
    get, put, up = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP
    asked = struct.pack("16sh14x", b"lo", 0)
    flags = struct.unpack("16sh14x", fcntl.ioctl(control, get, asked))[1]
    fcntl.ioctl(control, put, struct.pack("16sh14x", b"lo", flags | up))
listening = socket.create_server(("127.0.0.1", 0), backlog=64)
with socket.socket(fileno=int(sys.argv[1])) as channel:
    socket.send_fds(channel, [b"x"], [listening.fileno()])
sys.stdin.read()
"""


@dataclass(frozen=True)
class Loopback:
    """Where the server listens, and what to put before a command so that it runs inside."""

    listening: socket.socket
    port: int
    enter: list[str]


def missing() -> str:
    """Why no such network can be made here; empty when it can."""
    if absent := [tool for tool in ("unshare", "nsenter") if shutil.which(tool) is None]:
        return f"not installed: {', '.join(absent)}"
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    return "" if tried.returncode == 0 else f"no network namespace may be made: {tried.stderr.strip()}"


def _unshare() -> list[str]:
    return ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--net"]


def _enter(pid: int) -> list[str]:
    if os.geteuid() == 0:
        return ["nsenter", f"--net=/proc/{pid}/ns/net", "--"]
    return ["nsenter", f"--target={pid}", "--user", "--net", "--preserve-credentials", "--"]


@contextlib.contextmanager
def loopback() -> Iterator[Loopback]:
    """The network, until the block ends."""
    ours, theirs = socket.socketpair()
    argv = [*_unshare(), sys.executable, "-I", "-c", _HOLDER, str(theirs.fileno())]
    holder = subprocess.Popen(argv, stdin=subprocess.PIPE, pass_fds=[theirs.fileno()], cwd=Path("/"))
    theirs.close()
    try:
        ours.settimeout(30)
        said, descriptors, _, _ = socket.recv_fds(ours, 1, 1)
        if not said or not descriptors:
            raise AssertionError(f"the network's holder ended with {holder.wait(10)}")
        with socket.socket(fileno=descriptors[0]) as listening:
            listening.setblocking(True)
            yield Loopback(listening, listening.getsockname()[1], _enter(holder.pid))
    finally:
        ours.close()
        assert holder.stdin is not None
        holder.stdin.close()
        holder.wait(10)
