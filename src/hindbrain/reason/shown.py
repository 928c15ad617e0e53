"""Runs -> lessons nobody put into words: a command failed, and with something added to it the same command worked.

Strict, for most failures are routine: the part that failed has to be there again, word by word, behind a step that sets
something up, under a variable, or with a long option more; nobody of the user's side has said anything in between; and no
test was merely red.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.runs import Run, has_variable, is_assertion, looks_only, parts_of
from hindbrain.reason.trust import doubt

_QUOTE: Final = 300
_NEXT: Final = 4  # runs after the failed one among which the working one is sought
_ORDER: Final = re.compile(r"\b(?:always|never|from now on|immer|niemals|ab sofort|siempre|nunca)\b", re.IGNORECASE)
_NO_STEP: Final = frozenset(("cd", "rm", "echo", "ls", "cat", "grep", "sleep", "true", "git", "pwd", "mkdir", "tail", "head"))
_TESTS: Final = re.compile(
    r"\b(?:pytest|test|tests|jest|vitest|phpunit|rspec|ctest|nox|tox|twister|check|lint|mypy|ruff|tsc|eslint|clippy)\b"
)


def shown(turns: Sequence[Said], every: Sequence[Run], taken: set[int]) -> Iterator[tuple[int, Statement]]:
    """Each with the number of the call that worked. taken: results about which something was said."""
    for number, failed in enumerate(every):
        if not failed.failed or not failed.command or failed.result in taken or is_assertion(turns[failed.result].text):
            continue
        worked = _next_try(every, number)
        if worked and not _spoke(turns, failed.result, worked.call) and _is_added(failed, worked):
            yield worked.call, _happened(turns, failed, worked)


def _next_try(every: Sequence[Run], number: int) -> Run | None:
    """The next run that does something, where it worked."""
    for run in every[number + 1:number + 1 + _NEXT]:
        if run.command and not looks_only(run.command):
            return None if run.failed else run
    return None


def _spoke(turns: Sequence[Said], since: int, until: int) -> bool:
    return any(turn.role == "user" for turn in turns[since + 1:until])


def _is_added(failed: Run, worked: Run) -> bool:
    """Whether the later line is the earlier one with something that was missing."""
    tried = {part for part in parts_of(failed.command) if len(part) > 1}
    now = parts_of(worked.command)
    missing = _missing(failed)
    if missing and all(missing not in part for part in now):
        return False
    kept = next((place for place, part in enumerate(now) if part in tried), None)
    if kept is not None:
        before = [part for part in now[:kept] if part and part not in tried]
        steps = [part for part in before if part[0] not in _NO_STEP and not looks_only(" ".join(part))]
        return bool(steps) or (has_variable(worked.command) and not has_variable(failed.command))
    return any(_has_option_more(old, new) for old in tried for new in now)


def _has_option_more(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    more = set(new) - set(old)
    same = set(old) <= set(new) and old[:2] == new[:2]
    return same and len(more) in (1, 2) and any(word.startswith("--") for word in more) and not _TESTS.search(" ".join(old))


def _missing(run: Run) -> str:
    """The program a shell did not find, where it is one the command line names itself."""
    found = re.search(r"([\w.-]{1,60}): (?:command )?not found", run.error)
    return found.group(1) if found and any(part[:1] == (found.group(1),) for part in parts_of(run.command)) else ""


def _happened(turns: Sequence[Said], failed: Run, worked: Run) -> Statement:
    call = turns[worked.call]
    quote = (worked.command if worked.command in call.text else call.text)[:_QUOTE]
    text = f"{named(failed) or ' '.join(failed.command[:100].split())}: {worked_with(worked)}"
    where = (call.id, turns[worked.result].id, turns[failed.call].id, turns[failed.result].id)
    return Statement("lesson", text, where, quote, 0.5, "tool")


def worked_with(run: Run) -> str:
    return f"worked with `{' '.join(run.command[:_QUOTE].split())}`"


def named(run: Run) -> str:
    """The error in short. A tool printed it, so nothing that could be read as an order."""
    return "" if _ORDER.search(run.error) or doubt(run.error, own=False) else run.error.rstrip(" .:")
