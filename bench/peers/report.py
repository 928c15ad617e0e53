"""Figures -> a table in docs/benchmarks.md, between the markers of its name."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Any

COLUMNS = (
    "LoCoMo r10 / ndcg10", "R48 all5 / ndcg10", "POOL all5 / ndcg10", "turns taken in / s", "query p50 / p95 ms", "memory MB",
    "disk MB", "hook, over the bare interpreter",
)  # fmt: skip
DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "benchmarks.md"


def cell(figures: dict[str, Any], *names: str) -> str:
    value: Any = figures
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def hook_cell(hook: Any) -> str:
    if not isinstance(hook, dict):
        return str(hook)
    return "; ".join(f"{what} {told['ms']} ms, x {told['ratio']}" for what, told in hook.items())


def peers_table(figures: dict[str, dict[str, Any]], turns: int) -> str:
    rows = [
        f"Speed and size are those of a store of {turns:,} turns; {os.cpu_count()} cores, Python {platform.python_version()}.",
        "",
        f"| | {' | '.join(COLUMNS)} |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for name, told in figures.items():
        if reason := told.get("not_measured"):
            rows.append(f"| {name} | not measured: {' '.join(reason.split()).replace('|', '/')} |{' |' * (len(COLUMNS) - 1)}")
            continue
        quality = [f"{cell(told, each, first)} / {cell(told, each, 'ndcg10')}"
                   for each, first in (("locomo", "r10"), ("r48", "all5"), ("pool", "all5"))]  # fmt: skip
        speed = [cell(told, "ingest_per_s"), f"{cell(told, 'query_ms_p50')} / {cell(told, 'query_ms_p95')}",
                 cell(told, "memory_mb"), cell(told, "disk_mb"), hook_cell(told["hook"])]  # fmt: skip
        rows.append(f"| {name} | {' | '.join(quality + speed)} |")
    return "\n".join(rows)


def write(name: str, table: str) -> None:
    """Put the table between its markers. Raises ValueError when they are not there."""
    text = DOCUMENT.read_text("utf-8")
    pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(\n<!-- end {name} -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{DOCUMENT.name}: the markers of {name!r} were found {len(pattern.findall(text))} times")
    DOCUMENT.write_text(pattern.sub(lambda match: match[1] + table + match[2], text), "utf-8")
