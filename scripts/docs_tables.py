"""Settings, exit codes and hooked events in code -> their tables in the documents.

Each table stands between `<!-- begin NAME -->` and `<!-- end NAME -->`. Run as a script, the documents are rewritten;
the tests compare instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hindbrain.base.settings import SETTINGS, as_text
from hindbrain.serve.exits import EXITS
from hindbrain.serve.install.agents import CLAUDE_CODE

ROOT: Final = Path(__file__).resolve().parent.parent
# Defaults that are not a plain word.
UNSHOWN: Final = {
    "home": "see below", "capture.transcript_roots": "none", "embedder_url": "see below", "embedder_key": "none",
    "model_url": "see below", "model_key": "none",
}  # fmt: skip


def settings_table() -> str:
    rows = ["| setting | variable | default | allowed | meaning |", "|---|---|---|---|---|"]
    for setting in SETTINGS:
        default = f"`{shown}`" if (shown := as_text(setting.default)) else UNSHOWN[setting.name]
        cells = (f"`{setting.name}`", f"`{setting.variable}`", default, setting.allowed, setting.description)
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def exits_table() -> str:
    rows = ["| code | meaning |", "|---|---|", *(f"| {code} | {meaning} |" for code, meaning in EXITS.items())]
    return "\n".join(rows)


def events_table() -> str:
    rows = ["| event | brings | the agent ends it after |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{event.name}` | {event.brings} | {event.timeout} s |" for event in CLAUDE_CODE.events)])


TABLES: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "settings": ("docs/configuration.md", settings_table),
    "exit codes": ("README.md", exits_table),
    "Claude Code events": ("docs/agents.md", events_table),
}


def with_tables(document: str, text: str) -> str:
    """The document's text with its tables made anew. Raises ValueError when a marker is missing."""
    for name, (place, table) in TABLES.items():
        if place != document:
            continue
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(\n<!-- end {name} -->)", re.DOTALL)
        places = list(pattern.finditer(text))
        if len(places) != 1:
            raise ValueError(f"{document}: markers of table {name!r} found {len(places)} times")
        text = text[: places[0].end(1)] + table() + text[places[0].start(2) :]
    return text


def main() -> None:
    for document in {place for place, _ in TABLES.values()}:
        path = ROOT / document
        path.write_text(with_tables(document, path.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
