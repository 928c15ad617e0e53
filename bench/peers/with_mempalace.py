"""MemPalace with its backend `sqlite_exact`: turns are drawers, sessions are rooms, texts above its chunk size are cut.

Drawers are filed through the collection its own miners use, and found by the search its own tools use, with their defaults.
"""

from __future__ import annotations

import os
from typing import Any

from bench.peers.driver import serve

BATCH = 64  # as many as it embeds at a time


class MemPalace:
    def open(self, folder: str, url: str) -> None:
        self._palace = f"{folder}/palace"
        os.environ.update(
            MEMPALACE_CONFIG_DIR=f"{folder}/config", MEMPALACE_PALACE_PATH=self._palace, MEMPALACE_BACKEND="sqlite_exact",
            MEMPALACE_EMBEDDING_MODEL="openai-compat", MEMPALACE_EMBEDDING_API_URL=url, MEMPALACE_EMBEDDING_API_MODEL="shared",
            HOME=folder,
        )  # fmt: skip
        from mempalace.config import MempalaceConfig  # type: ignore[import-not-found]
        from mempalace.palace import get_collection  # type: ignore[import-not-found]

        self._chunk: int = MempalaceConfig().chunk_size
        self._drawers: Any = get_collection(self._palace, create=True, backend="sqlite_exact")

    def add(self, turns: list[dict[str, str]]) -> None:
        drawers = [
            (f"{turn['key']}|{piece}", turn["text"][start : start + self._chunk],
             {"wing": "bench", "room": turn["session"], "source_file": f"{turn['session']}.jsonl", "chunk_index": number,
              "filed_at": turn["at"], "added_by": turn["role"]})
            for number, turn in enumerate(turns)
            for piece, start in enumerate(range(0, len(turn["text"]), self._chunk))
        ]  # fmt: skip
        for first in range(0, len(drawers), BATCH):
            ids, documents, metadatas = (list(each) for each in zip(*drawers[first : first + BATCH], strict=True))
            self._drawers.upsert(ids=ids, documents=documents, metadatas=metadatas)

    def search(self, question: str, k: int) -> list[str]:
        from mempalace.searcher import search_memories  # type: ignore[import-not-found]

        found = search_memories(question, self._palace, n_results=k)
        if "error" in found:
            raise RuntimeError(found["error"])
        return [each["drawer_id"].rsplit("|", 1)[0] for each in found["results"]]

    def close(self) -> None:
        from mempalace.palace import clear_validated_embedder_identity

        clear_validated_embedder_identity(self._palace)


if __name__ == "__main__":
    serve(MemPalace())
