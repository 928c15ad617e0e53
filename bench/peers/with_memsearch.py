"""memsearch over Markdown files, one for each session and a heading for each turn, in the Milvus Lite it uses by default.

What it finds are pieces of files; the lines of a piece tell which turn it is of.
"""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from pathlib import Path
from typing import Any

from bench.peers.driver import serve


class MemSearch:
    def open(self, folder: str, url: str) -> None:
        from memsearch import MemSearch as Store  # type: ignore[import-not-found]

        self._files = Path(folder).resolve() / "memory"
        self._files.mkdir()
        self._starts: dict[str, tuple[list[int], list[str]]] = {}  # by file: first lines of turns, and their keys
        self._loop = asyncio.new_event_loop()
        self._store: Any = Store(
            paths=[self._files], embedding_provider="openai", embedding_model="shared", embedding_base_url=url,
            embedding_api_key="none", milvus_uri=f"{folder}/milvus.db",
        )  # fmt: skip

    def add(self, turns: list[dict[str, str]]) -> None:
        sessions: dict[str, list[dict[str, str]]] = {}
        for turn in turns:
            sessions.setdefault(turn["session"], []).append(turn)
        for name, said in sessions.items():
            path, lines = self._files / f"{name}.md", 1
            starts, keys, text = [], [], ""
            for turn in said:
                starts.append(lines)
                keys.append(turn["key"])
                piece = f"## {turn['at'][11:16]}\n{turn['text']}\n\n"
                text += piece
                lines += piece.count("\n")
            path.write_text(text, encoding="utf-8", newline="\n")
            self._starts[str(path)] = (starts, keys)
        self._loop.run_until_complete(self._store.index())

    def search(self, question: str, k: int) -> list[str]:
        found = self._loop.run_until_complete(self._store.search(question, top_k=k))
        return [self._key(each["source"], each["start_line"]) for each in found]

    def _key(self, source: str, line: int) -> str:
        starts, keys = self._starts[source]
        return keys[bisect_right(starts, line) - 1]

    def close(self) -> None:
        self._store.close()


if __name__ == "__main__":
    serve(MemSearch())
