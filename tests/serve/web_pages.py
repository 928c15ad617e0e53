"""A home with calls of models in it, its pages on a real socket, and requests to them byte by byte."""

from __future__ import annotations

import http.client
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import Config, load
from hindbrain.base.home import Home
from hindbrain.ledger.calls import Call, put_call
from hindbrain.ledger.store import Ledger
from hindbrain.serve.web.guard import cookie_name
from hindbrain.serve.web.serving import Web

CLOCK = SystemClock()


class Answer(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: str

    def header(self, name: str) -> str | None:
        found = [value for each, value in self.headers if each.lower() == name]
        assert len(found) < 2, found
        return found[0] if found else None


@dataclass
class Served:
    """Pages that run, and how often one was made."""

    web: Web
    made: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.web.port}"

    def send(self, raw: bytes) -> Answer:
        """The answer to exactly these bytes."""
        with socket.create_connection(("127.0.0.1", self.web.port), timeout=60) as connection:
            connection.sendall(raw)
            answer = http.client.HTTPResponse(connection, method=raw.partition(b" ")[0].decode())
            answer.begin()
            return Answer(answer.status, answer.getheaders(), answer.read().decode())

    def ask(self, path: str, method: str = "GET", body: str = "", **headers: str) -> Answer:
        """An honest request, unless a header says otherwise; one that is "" is left out."""
        given = {"Host": self.host, "Connection": "close"} | {name.replace("_", "-"): value for name, value in headers.items()}
        if body:
            given = {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(body))} | given
        lines = [f"{name}: {value}" for name, value in given.items() if value]
        return self.send("\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", body]).encode("utf-8", "surrogateescape"))

    def enter(self, code: str | None = None, **headers: str) -> Answer:
        good = self.web.link.partition("#")[2] if code is None else code
        return self.ask("/enter", "POST", f"code={good}", **{"Origin": f"http://{self.host}"} | headers)

    def cookie(self) -> str:
        """What a browser sends once it has come in."""
        found = re.match(rf"({cookie_name(self.web.port)}=[^;]+);", self.enter().header("set-cookie") or "")
        assert found is not None
        return found[1]


@contextmanager
def served(config: Callable[[], Config]) -> Iterator[Served]:
    """The pages, until the block is left."""
    made: list[str] = []
    links: list[str] = []

    def counted() -> Config:
        made.append("")
        return config()

    web = Web(counted, CLOCK, 0, links.append)
    thread = threading.Thread(target=web.run)
    thread.start()
    try:
        yield Served(web, made, links)
    finally:
        web.end()
        thread.join(60)
        assert not thread.is_alive()


def config_of(home: Path, environ: Mapping[str, str] | None = None) -> Callable[[], Config]:
    given = {"HOME": "/home/ada"} | {f"HINDBRAIN_{name}": value for name, value in (environ or {}).items()}
    return lambda: load(str(home), environ=given)


def keep(home: Home, *told: Call) -> None:
    with Ledger.open(home.ledger, CLOCK) as ledger, ledger.writing() as database:
        for each in told:
            put_call(database, each)
