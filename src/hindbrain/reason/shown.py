"""Runs -> lessons nobody put into words: a command failed, and with something added to it, or a service started, it worked.

Strict, for most failures are routine: what failed has to be tried again behind a step that sets something up, under a variable,
or with an option more or set otherwise; nobody of the user's side has said anything in between; and no test was merely red.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.runs import Run, has_variable, is_again, is_assertion, looks_only, parts_of
from hindbrain.reason.trust import doubt

WORKED_WITH: Final = "worked with"
_QUOTE: Final = 300
_NEXT: Final = 4  # runs after the failed one among which the working one is sought
_ORDER: Final = re.compile(r"\b(?:always|never|from now on|immer|niemals|ab sofort|siempre|nunca)\b", re.IGNORECASE)
_NO_STEP: Final = frozenset(("cd", "rm", "echo", "ls", "cat", "grep", "sleep", "true", "git", "pwd", "mkdir", "tail", "head"))
_OPTION: Final = re.compile(r"--?[a-zA-Z][\w-]{2,}|\w[\w.-]{2,}=")
_UNREACHED: Final = re.compile(r"connection refused|ECONNREFUSED|could not connect|cannot connect to|no route to host", re.I)
_STARTS: Final = re.compile(
    r"\b(?:docker[ -]compose|podman[ -]compose) (?:\S+ ){0,4}(?:up|start)\b|\bdocker (?:start|run)\b"
    r"|\bsystemctl (?:\S+ )?(?:start|restart)\b|\bservice \S+ (?:start|restart)\b"
    r"|\bbrew services (?:start|restart)\b|\bpg_ctl\b.* start\b"
    r"|\b(?:minikube|colima) start\b"
    r"|\bredis-server\b|\bnet start\b"
)
# Said to see more, or less of it: it does not make anything work.
_SHOWS_MORE: Final = re.compile(r"--?(?:verbose|v+|debug|info|stack-?trace|trace|tb|lf|last-failed|ff|watch|quiet|silent|"
                                r"no-cov\w*|max-?fail|"
                                r"test\w*|filter|grep|only\w*|pattern|backtrace|help|version|dry-run|race|count|color|json|"
                                r"format|fix)\b")


def shown(turns: Sequence[Said], every: Sequence[Run], taken: set[int]) -> Iterator[tuple[int, Statement]]:
    """Each with the number of the call that worked. taken: results about which something was said."""
    for number, failed in enumerate(every):
        if not failed.failed or not failed.command or failed.result in taken or is_assertion(turns[failed.result].text):
            continue
        worked = _next_try(every, number)
        if not worked or _spoke(turns, failed.result, worked.call):
            continue
        if _is_added(failed, worked):
            yield worked.call, _happened(turns, failed, worked)
        elif _UNREACHED.search(turns[failed.result].text) and worked.command == failed.command:
            started = [run for run in every[number + 1 : number + _NEXT] if run.result < worked.call and _starts(run)]
            if len(started) == 1:  # "connection refused", the database is started, the same works
                yield started[0].call, _happened(turns, failed, started[0])


def _starts(run: Run) -> bool:
    """Whether it starts a service."""
    return not run.failed and _STARTS.search(run.command) is not None


def _next_try(every: Sequence[Run], number: int) -> Run | None:
    """The next run of the same, where it worked."""
    for run in every[number + 1:number + 1 + _NEXT]:
        if run.command and not looks_only(run.command) and _is_tried(every[number], run):
            return None if run.failed else run
    return None


def _is_tried(failed: Run, run: Run) -> bool:
    now = parts_of(run.command)
    return is_again(failed.command, run.command) or any(_varies(old, new) for old in parts_of(failed.command) for new in now)


def _spoke(turns: Sequence[Said], since: int, until: int) -> bool:
    return any(turn.role == "user" for turn in turns[since + 1:until])


def _is_added(failed: Run, worked: Run) -> bool:
    """Whether the later line is the earlier one with something that was missing."""
    tried = {part for part in parts_of(failed.command) if len(part) > 1 and not looks_only(" ".join(part))}
    now = parts_of(worked.command)
    missing = _missing(failed)
    if missing and all(missing not in part for part in now):
        return False
    kept = next((place for place, part in enumerate(now) if part in tried or any(_replaces(old, part) for old in tried)), None)
    if kept is not None and any(part not in tried and _is_step(part) for part in now[:kept]):
        return True
    if kept is not None and now[kept] in tried:
        return has_variable(worked.command) and not has_variable(failed.command)
    return any(_varies(old, new) for old in tried for new in now)


def _is_step(part: tuple[str, ...]) -> bool:
    return part[0] not in _NO_STEP and not looks_only(" ".join(part))


def _replaces(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """The same with one word put for another."""
    return len(old) == len(new) > 2 and old[:2] == new[:2] and len(set(old) - set(new)) == 1


def _varies(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """The same with an option more, or an option set otherwise."""
    more, less = set(new) - set(old), set(old) - set(new)
    if old[0] != new[0] or not more or len(more) > 2 or len(old) < 2:
        return False
    added = [word for word in more if _OPTION.match(word)]
    return bool(added) and not any(map(_SHOWS_MORE.match, added)) and all(_same_key(word, more) for word in less)


def _same_key(word: str, others: set[str]) -> bool:
    return "=" in word and any(other.startswith(word[:word.index("=") + 1]) for other in others)


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
    return f"{WORKED_WITH} `{' '.join(run.command[:_QUOTE].split())}`"


def named(run: Run) -> str:
    """The error in short. A tool printed it, so nothing that could be read as an order."""
    return "" if _ORDER.search(run.error) or doubt(run.error, own=False) else run.error.rstrip(" .:")
