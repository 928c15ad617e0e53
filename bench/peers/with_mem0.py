"""mem0's own store: the local Qdrant it uses by default, each turn kept as it is (`infer=False`), no language model asked.

Its keyword half wants fastembed and a model from the network, which a plain installation has not; it then ranks by vectors,
as it would for anyone who installs it and stays offline. Nothing is cut off below a threshold.
"""

from __future__ import annotations

import os
from typing import Any

from bench.peers.driver import serve

USER = "bench"


class Mem0:
    def open(self, folder: str, url: str) -> None:
        os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=folder, OPENAI_API_KEY="none")
        from mem0 import Memory  # type: ignore[import-not-found]

        model = {"model": "shared", "api_key": "none", "openai_base_url": url, "embedding_dims": 256}
        self._memory: Any = Memory.from_config({
            "vector_store": {
                "provider": "qdrant",
                "config": {"path": f"{folder}/qdrant", "on_disk": True, "embedding_model_dims": 256, "collection_name": "bench"},
            },
            "embedder": {"provider": "openai", "config": model},
            "llm": {"provider": "openai", "config": {"model": "none", "api_key": "none", "openai_base_url": url}},
            "history_db_path": f"{folder}/history.db",
        })  # fmt: skip

    def add(self, turns: list[dict[str, str]]) -> None:
        for turn in turns:
            said = {"role": turn["role"], "content": turn["text"]}
            self._memory.add([said], user_id=USER, metadata={"key": turn["key"], "at": turn["at"]}, infer=False)

    def search(self, question: str, k: int) -> list[str]:
        found = self._memory.search(question, filters={"user_id": USER}, top_k=k, threshold=0.0)
        return [each["metadata"]["key"] for each in found["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()


if __name__ == "__main__":
    serve(Mem0())
