"""Tool calls and their results -> runs: what was run, whether it failed, and with which error.

A run failed where the agent's own record says so, or where a shell's output shows it in words no successful run prints. The
content of a file or a page that was merely read shows nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hindbrain.ledger.statement import Said

_LINE: Final = 4_000  # letters of a command line that are looked at
_SEEN: Final = 4_000  # letters at either end of an output: errors stand first or last
_SHELLS: Final = frozenset((
    "bash", "shell", "terminal", "exec", "exec_command", "local_shell", "run", "run_command", "execute_command", "powershell",
))  # fmt: skip
_LOOKS: Final = re.compile(r"(?:cat|less|head|tail|grep|rg|ls|find|sed -n|git (?:log|show|diff|status|blame)|"
                           r"kubectl .{0,80}logs|journalctl|"
                           r"gh (?:issue|pr)|docker (?:logs|ps)|curl|wc|echo|cd|pwd|sleep|which|file|stat|df|du|ps|env|"
                           r"true)\b")  # fmt: skip
_SEQUENCE: Final = re.compile(r"&&|\|\||;|\n")
_FAILED: Final = re.compile(
    r"Traceback \(most recent|^E   \S|^(?:error|fatal)(?:\[\w+\])?:|^Error: |\b(?:BUILD|PROJECT EXECUTION) FAILED|\bFAILED\b|"
    r"\b[1-9]\d{0,5} (?:failed|failures?|errors?)\b|\b[Ee]xit(?:ed)?(?: with)?(?: (?:code|status))?:? \(?[1-9]\d{0,2}\b|"
    r"^Killed\b|command not found|panicked at|npm ERR!|"
    r"ERR_PNPM|[Ss]egmentation fault|^\S{0,80}: error: |\bFATAL\b|ERROR=[1-9]|: No such file or directory$|"
    r"Permission denied|[Cc]onnection refused|ECONNREFUSED|OOMKilled",
    re.MULTILINE)  # fmt: skip
_TELLING: Final = re.compile(r"\b[A-Za-z_][\w.]{0,80}(?:Error|Exception|Fault|Panic|BackOff)\b|"
                             r"\b(?:error|fatal|failed|cannot|could not|denied|not found|refused|conflict\w*|timeout|timed out|"
                             r"panicked|severe)\b", re.I)  # fmt: skip
_NOISE: Final = re.compile(
    r"^(?:<[^<>\n]{0,80}>|<!\[CDATA\[|-{2,4} FAIL: |(?:FAIL|ERROR|Error|error|fatal): (?=[\w.]{1,80}(?:Error|Exception)\b)|"
    r"\s|[E>❯•×✗│|*\-]\s|\[[^\]\n]{0,20}\]\s|\d\d:\d\d:\d\d\s|(?:\d{4}-\d\d-\d\d\S{0,16})\s|---- ){1,20}")  # fmt: skip
_WRAPPERS: Final = frozenset(("sudo", "time", "nice", "env", "npx", "bunx", "uvx", "pipx"))
_RUNNERS: Final = frozenset({
    ("uv", "run"), ("poetry", "run"), ("pdm", "run"), ("hatch", "run"), ("pipenv", "run"), ("pnpm", "exec"), ("npm", "exec"),
    ("pnpm", "dlx"), ("yarn", "dlx"), ("bundle", "exec"), ("python", "-m"), ("python3", "-m"), ("dart", "run"), ("mix", "do"),
})  # fmt: skip
_NO_TRY: Final = frozenset(("cd", "export", "rm", "mkdir", "echo"))
_TESTED: Final = re.compile(r"\b(?:assert\w*|expected|left == right)\b", re.I)


@dataclass(frozen=True, slots=True)
class Run:
    """A call with its result, as positions in the session."""

    call: int
    result: int
    command: str
    failed: bool
    error: str = ""  # its most telling line, short

    @property
    def is_shell(self) -> bool:
        return bool(self.command)


def runs(turns: Sequence[Said]) -> list[Run]:
    """All runs in the order of their results. A result belongs to the oldest call of its tool that still waits; where either
    does not say of which tool it is, to the oldest call it may belong to."""
    waiting: dict[str, deque[int]] = defaultdict(deque)
    found: list[Run] = []
    for number, turn in enumerate(turns):
        if turn.role == "tool_call":
            waiting[turn.tool].append(number)
        elif turn.role == "tool_result" and (calls := _calls(waiting, turn.tool)):
            found.append(_run(turns, calls.popleft(), number))
    return found


def _calls(waiting: Mapping[str, deque[int]], tool: str) -> deque[int]:
    """The calls, oldest first, to which the next result of a tool belongs."""
    own = waiting.get(tool) or waiting.get("") or deque()
    return own if tool else min((calls for calls in waiting.values() if calls), key=lambda calls: calls[0], default=own)


def _run(turns: Sequence[Said], call: int, result: int) -> Run:
    command = command_of(turns[call])
    failed = turns[result].error or (bool(command) and not looks_only(command) and shows_failure(turns[result].text))
    return Run(call, result, command, failed, error_line(turns[result].text) if failed else "")


def command_of(turn: Said) -> str:
    """What a call ran in a shell; "" where it ran none."""
    if turn.command:
        return turn.command.strip()
    if turn.tool.lower() not in _SHELLS:
        return ""
    first = turn.text.split("\n{", 1)[0]  # further fields of the input follow as JSON
    return first.removeprefix(f"{turn.tool}: ").strip()


def looks_only(command: str) -> bool:
    """Whether every command of a line looks at something: it changes nothing, and what it prints is what it found."""
    return all(_LOOKS.match(each.lstrip()) for each in _SEQUENCE.split(command[:_LINE])[:20] if each.strip())


def shows_failure(output: str) -> bool:
    return any(_FAILED.search(part) for part in _ends(output))


def is_assertion(output: str) -> bool:
    """Whether a test said no: part of writing it, more often than not."""
    return any(_TESTED.search(part) for part in _ends(output))


def error_line(output: str, most: int = 90) -> str:
    """The line that says most about a failure, without its decoration."""
    lines = [line for part in _ends(output) for line in part.split("\n")[:60] if line.strip()]
    named = next((line for line in lines if (found := _TELLING.search(line)) and not found.group().islower()), "")
    line = named or next((line for line in lines if _TELLING.search(line)), lines[0] if lines else "")
    short = " ".join(_NOISE.sub("", line[:400]).split())
    return short if len(short) <= most else short[:most].rsplit(" ", 1)[0].rstrip(" ,;:") + " …"


def _ends(output: str) -> tuple[str, ...]:
    return (output,) if len(output) <= 2 * _SEEN else (output[:_SEEN], output[-_SEEN:])


def parts_of(command: str) -> list[tuple[str, ...]]:
    """The commands of a line, each as its words without leading variables, at most the first twenty."""
    parts = [re.split(r"\s+", part.strip()) for part in re.split(r"&&|\|\||;|\n|\|", command[:_LINE])[:20]]
    commands = [tuple(_without_variables(words)) for words in parts if words and words[0]]
    return [command for command in commands if command]  # a line of nothing but variables runs nothing


def _without_variables(words: list[str]) -> list[str]:
    while words:
        if re.match(r"[A-Za-z_]\w*=", words[0]) or words[0] in _WRAPPERS:
            words = words[1:]
        elif tuple(words[:2]) in _RUNNERS:
            words = words[2:]
        else:
            break
    return words


def has_variable(command: str) -> bool:
    """Whether a part of the line runs under a variable of its own."""
    return re.search(r"(?:^|&&|;|\|)\s{0,4}(?:sudo |env )?[A-Za-z_]\w{0,60}=\S", command[:_LINE]) is not None


def is_again(earlier: str, later: str) -> bool:
    """Whether the later command line does what the earlier one tried: one part with the same program and first argument."""
    return not _beginnings(earlier[:_LINE]).isdisjoint(_beginnings(later[:_LINE]))


@lru_cache(maxsize=256)  # a session runs the same few lines again and again
def _beginnings(command: str) -> frozenset[tuple[str, ...]]:
    return frozenset(part[:2] for part in parts_of(command) if part and part[0] not in _NO_TRY)
