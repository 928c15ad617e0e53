"""Runs -> procedures shown by what was done: a chain that worked more than once, the project's own command that worked often.

A single program that anybody would run (a test runner, a compiler) teaches nothing, nor does a look at files. What failed as
often as it worked is no way of doing something.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.runs import Run, looks_only, parts_of, runs

_MOST: Final = 2  # of one session
_CHAIN: Final = 2  # times a chain has to work
_OWN: Final = 3  # times a command of the project's own has to work
_LONGEST: Final = 240
_NO_STEP: Final = frozenset(("cd", "echo", "sleep", "true", "tail", "head", "grep", "cat", "ls", "wc", "export", "source", "set"))
_OWN_RUNNER: Final = re.compile(r"(?:make|just|task|invoke|rake|fastlane) [\w:-]{2,60}|(?:\./|scripts?/|bin/|"
                                r"tools?/)[\w./-]{2,80}|(?:npm|pnpm|yarn|bun) run [\w:-]{2,60}")
_ONCE: Final = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b[0-9a-f]{7,40}\b|git (?:commit|add|tag|checkout|push|stash|mv)\b|\brm -|<<|"
                          r"\bsed -i|\b(?:test|tests|pytest|lint|typecheck|check|build)\b")


def habits(turns: Sequence[Said]) -> Iterator[tuple[int, Statement]]:
    """Each with the number of the call that showed it last."""
    done = [run for run in runs(turns) if run.command and len(run.command) <= _LONGEST and not looks_only(run.command)]
    worked = Counter(run.command for run in done if not run.failed)
    failed = Counter(run.command for run in done if run.failed)
    last = {run.command: run for run in done if not run.failed}
    shown = [command for command, times in worked.items() if times >= _needed(command) and times > failed[command]]
    for command in sorted(shown, key=lambda each: -worked[each])[:_MOST]:
        yield from _procedure(turns, last[command], worked[command])


def _needed(command: str) -> int | float:
    """How often a command has to work before it is a way of doing something."""
    if _ONCE.search(command):
        return float("inf")
    steps = [part for part in parts_of(command) if part and part[0] not in _NO_STEP]
    if "&&" in command and len(steps) > 1:
        return _CHAIN
    return _OWN if _OWN_RUNNER.match(command) else float("inf")


def _procedure(turns: Sequence[Said], run: Run, times: int) -> Iterator[tuple[int, Statement]]:
    call = turns[run.call]
    if run.command in call.text:
        text = f"Run {times} times without error: `{' '.join(run.command.split())}`"
        yield run.call, Statement("procedure", text, (call.id, turns[run.result].id), run.command, 0.5, "assistant")
