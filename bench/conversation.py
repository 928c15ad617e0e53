"""A turn of a conversation with 10 turns behind it, and with 10,000 -> what each costs, and how much more the second.

A turn is what `with_memory` does around a backend, each time as a process of its own would: load the conversation, look for
what the prompt is about, lay out what is told, and record prompt and reply durably. The two conversations take turns, so that
whatever else the machine does hits both; the median counts. Before each turn the files are put back as they were.

    python bench/conversation.py [--turns 10000] [--rounds 60] [--place DIRECTORY]

The last line is JSON: record_ms and format_ms (with 10 turns behind), format_10k_turns_ms, ratio_10k (a whole turn with 10,000
behind it to one with 10; the bar is 1.5).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.talk import vocabulary
from hindbrain.converse.conversation import ConversationMemory
from hindbrain.converse.saved import MemoryManager

FEW: Final = 10
BAR: Final = 1.5
WORDS_A_TURN: Final = 40
WORDS_A_PROMPT: Final = 12


class Talker:
    """Says things that look like language: the n-th word about 1/n as often as the first."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)
        self._words, self._weights = vocabulary(self._choose)

    def says(self, count: int) -> str:
        return " ".join(self._choose.choices(self._words, cum_weights=self._weights, k=count))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--turns", type=int, default=10_000, help="how many lie behind the longer one")
    parser.add_argument("--rounds", type=int, default=60, help="how many turns of each are measured")
    parser.add_argument("--place", default=None, help="a directory on the disk to measure (default: the temporary one)")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=told.place) as place:
        seconds = measure(Path(place), told.turns, told.rounds)
    middle = {name: statistics.median(times) * 1000 for name, times in seconds.items()}
    few, many = (middle[f"format {name}"] + middle[f"record {name}"] for name in ("few", "many"))
    for name, took in middle.items():
        print(f"{name:12} {took:8.2f} ms")
    ratio = many / few
    print(f"a turn       {few:8.2f} ms with {FEW} behind it, {many:.2f} ms with {told.turns}")
    print(f"ratio        {ratio:8.2f} (bar {BAR}: {'met' if ratio <= BAR else 'NOT met'})")
    print(json.dumps({
        "record_ms": round(middle["record few"], 3), "format_ms": round(middle["format few"], 3),
        "format_10k_turns_ms": round(middle["format many"], 3), "ratio_10k": round(ratio, 3),
    }))  # fmt: skip
    return 0


def measure(place: Path, turns: int, rounds: int) -> dict[str, list[float]]:
    """Seconds each part took, round for round."""
    talker = Talker(8)
    kept = {name: Kept(_talked(place / name, talker, count)) for name, count in (("few", FEW), ("many", turns))}
    seconds: dict[str, list[float]] = {f"{part} {name}": [] for part in ("format", "record") for name in kept}
    names = list(kept)
    for _ in range(rounds):
        prompt, reply = talker.says(WORDS_A_PROMPT), talker.says(WORDS_A_TURN)
        for name in names:
            kept[name].put_back()
            _turn(kept[name].base, prompt, reply, seconds[f"format {name}"], seconds[f"record {name}"])
        names.append(names.pop(0))
    return seconds


class Kept:
    """The files of a conversation as they were. Only what has changed is put back: writing megabytes would slow the next sync."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self._files = {path: path.read_bytes() for path in base.rglob("ada.*")}

    def put_back(self) -> None:
        for path, data in self._files.items():
            with open(path, "r+b") as file:
                if path.suffix == ".jsonl":
                    file.truncate(len(data))
                elif file.read() != data:
                    file.seek(0)
                    file.write(data)
                    file.truncate()
                file.flush()
                os.fsync(file.fileno())


def _talked(base: Path, talker: Talker, turns: int) -> Path:
    """A conversation with so many turns behind it; the last of them is not in the index yet, as it is after every turn."""
    memory = ConversationMemory()
    for number in range(turns - 2 + memory.config.max_turns):
        memory.record_turn(("user", "assistant")[number % 2], talker.says(WORDS_A_TURN))
    MemoryManager(base).save("crew", "ada", memory)
    memory.format_context("ready")
    for role in ("user", "assistant"):
        memory.record_turn(role, talker.says(WORDS_A_TURN))
    MemoryManager(base).save("crew", "ada", memory)
    return base


def _turn(base: Path, prompt: str, reply: str, format_seconds: list[float], record_seconds: list[float]) -> None:
    manager = MemoryManager(base)
    began = time.perf_counter()
    memory = manager.load("crew", "ada")
    if memory is None or not memory.format_context(prompt).startswith("[Conversation Context]\nEarlier: "):
        raise AssertionError("the conversation is not what it should be")
    formatted = time.perf_counter()
    with manager.changing("crew", "ada") as memory:
        memory.record_turn("user", prompt)
        memory.record_turn("assistant", reply)
    format_seconds.append(formatted - began)
    record_seconds.append(time.perf_counter() - formatted)


if __name__ == "__main__":
    sys.exit(main())
