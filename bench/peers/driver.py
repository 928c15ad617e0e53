"""Requests on standard input, one JSON object a line -> what a contender answers, one JSON object a line.

Each contender runs in a process of its own, in an environment of its own, and is asked the same things in the same order:
open a folder, take turns in, search. Only the standard library is imported here, since the environments share nothing else.
Times are taken inside, around the contender's own calls alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any, Protocol


class Contender(Protocol):
    """What is under measurement."""

    def open(self, folder: str, url: str) -> None:
        """Work in an empty folder from now on; embeddings are at the address."""

    def add(self, turns: list[dict[str, str]]) -> None:
        """Take turns in (session, key, role, text, at), so that they can be found when this returns."""

    def search(self, question: str, k: int) -> list[str]:
        """Keys of turns, best first."""

    def close(self) -> None:
        """Give the folder back."""


def resident_mb(field: str = "VmRSS") -> float:
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith(field + ":"))
    return int(line.split()[1]) / 1024


def answer(contender: Contender, request: dict[str, Any]) -> dict[str, Any]:
    start = time.perf_counter()
    found: list[str] = []
    match request["do"]:
        case "open":
            contender.open(request["folder"], request["url"])
        case "add":
            contender.add(request["turns"])
        case "search":
            found = contender.search(request["question"], request["k"])
        case "close":
            contender.close()
    taken = time.perf_counter() - start
    return {"seconds": taken, "found": list(dict.fromkeys(found)), "rss_mb": resident_mb(), "peak_mb": resident_mb("VmHWM")}


def serve(contender: Contender) -> None:
    """Answer until the input ends. Whatever the contender prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            told = answer(contender, json.loads(line))
        except Exception as error:  # noqa: BLE001  # the process boundary: the bench reports it as the contender's
            told = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(told) + "\n")
        out.flush()
