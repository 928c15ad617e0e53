"""Pages and what the ledger knows -> findings, each with its place, its weight and whether it can be put right at once.

Pure: nothing is read but what is handed in. Every check goes over the pages once; whatever compares pages does so through a
table, never each with each, so that twice the wiki takes twice the time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hindbrain.wiki import lint_facts, lint_links, lint_pages
from hindbrain.wiki.finding import NOTHING_KNOWN, SEVERITIES, Finding, Knowledge, Known, Pages, fingerprint
from hindbrain.wiki.lint_fix import fixed

__all__ = ["Finding", "Knowledge", "Known", "as_json", "as_text", "exit_code", "findings", "fingerprint", "fixed"]

CHECKS: Final[tuple[Callable[[Pages], Iterator[Finding]], ...]] = (
    lint_links.broken, lint_links.orphans, lint_links.one_way, lint_links.index_drift,
    lint_facts.out_of_date, lint_facts.stale, lint_facts.contradictions, lint_facts.said_twice, lint_facts.sources,
    lint_pages.schema, lint_pages.sparse, lint_pages.duplicates,
)  # fmt: skip


def findings(texts: Mapping[str, str], knowledge: Knowledge = NOTHING_KNOWN) -> tuple[Finding, ...]:
    """Everything that is wrong, by page and line."""
    pages = Pages(texts, knowledge)
    found = (each for check in CHECKS for each in check(pages))
    plain = (replace(each, message=printable(each.message)) for each in found)
    return tuple(sorted(plain, key=lambda each: (each.page, each.line, SEVERITIES.index(each.severity), each.code, each.message)))


def printable(text: str) -> str:
    """In one line, with a space for whatever is no letter; paths are as hostile as texts."""
    return text if text.isprintable() else "".join(letter if letter.isprintable() else " " for letter in text)


def exit_code(found: Sequence[Finding]) -> int:
    """1 where there are errors."""
    return int(any(each.severity == "error" for each in found))


def as_text(found: Sequence[Finding]) -> str:
    """For a person: page by page, and the sums."""
    lines: list[str] = []
    page = None
    for each in found:
        if each.page != page:
            lines += [""] if lines else []
            lines.append(printable(each.page))
            page = each.page
        fix = " (can be fixed)" if each.fix else ""
        lines.append(f"  {each.line or '-':>4}  {each.severity:<7}  {each.code}: {each.message}{fix}")
    return "\n".join([*lines, *([""] if lines else []), _sums(found)]) + "\n"


def _sums(found: Sequence[Finding]) -> str:
    if not found:
        return "nothing to report"
    counts = Counter(each.severity for each in found)
    parts = [f"{counts[name]} {name}{'' if counts[name] == 1 else 's'}" for name in SEVERITIES]
    return f"{', '.join(parts)}; {sum(each.fix for each in found)} can be fixed"


def as_json(found: Sequence[Finding]) -> str:
    """For a program."""
    counts = Counter(each.severity for each in found)
    rows = [
        {"code": each.code, "severity": each.severity, "page": each.page, "line": each.line, "message": each.message,
         "fix": each.fix}
        for each in found
    ]  # fmt: skip
    report = {"errors": counts["error"], "warnings": counts["warning"], "notes": counts["note"], "findings": rows}
    return json.dumps(report, ensure_ascii=True, indent=2) + "\n"
