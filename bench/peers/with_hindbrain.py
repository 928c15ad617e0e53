"""Hindbrain through its public API: each turn is on the disk before the call returns, and all are found when `add` does.

It needs no server: its embedder, the one behind the shared address, is in the package.
"""

from __future__ import annotations

from datetime import datetime

from bench.peers.driver import serve
from hindbrain import Memory

PROJECT = "bench"


class Hindbrain:
    def open(self, folder: str, url: str) -> None:
        self._memory = Memory.open(home=f"{folder}/home")

    def add(self, turns: list[dict[str, str]]) -> None:
        for turn in turns:
            self._memory.record(
                agent="bench", session=turn["session"], role=turn["role"], text=turn["text"], project=PROJECT, key=turn["key"],
                at=datetime.fromisoformat(turn["at"]),
            )  # fmt: skip
        self._memory.settle(timeout=1800)

    def search(self, question: str, k: int) -> list[str]:
        return [key for hit in self._memory.search(question, k=k, project=PROJECT) for key in hit.keys]

    def close(self) -> None:
        self._memory.close()


if __name__ == "__main__":
    serve(Hindbrain())
