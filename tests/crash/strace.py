"""A command -> the same command with one of its system calls killed or failing, for each call in turn.

`when=N` counts calls of one name, so each name is swept by itself. A dry run lists the calls of the command; the sweep begins
behind a mark (the first call that is our own work), because what the interpreter does to come up is not under test, and it
ends when an injection no longer fires. Runs share nothing but the program, so many may go on at the same time.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SECONDS: Final = 60
_CALL = re.compile(r"^(?:\d+ +)?([a-z0-9_]+)\(")


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended; a signal is a negative code, as subprocess has it."""

    code: int
    stdout: bytes
    stderr: bytes
    injected: bool = False


@dataclass(frozen=True, slots=True)
class Fault:
    """What is done to which call: `signal=KILL` or `error=EIO`, at the Nth call, from it on, or from it to a last."""

    call: str
    effect: str
    number: int
    onward: bool = False
    last: int = 0

    def __str__(self) -> str:
        until = "+" if self.onward else f"..{self.last}" if self.last else ""
        return f"{self.call}:{self.effect}:when={self.number}{until}"


def run_plain(argv: Sequence[str], data: bytes, environ: Mapping[str, str], **more: object) -> Ran:
    done = subprocess.run(argv, input=data, env=dict(environ), capture_output=True, timeout=SECONDS, check=False, **more)  # type: ignore[call-overload]
    return Ran(done.returncode, done.stdout, done.stderr)


def run_with(fault: Fault, argv: Sequence[str], data: bytes, environ: Mapping[str, str], log: Path) -> Ran:
    """Run with one fault; `injected` says whether it came to it."""
    # the faster way to stop at a few calls only delivers errors, not signals
    fast = [] if "signal" in fault.effect else ["--seccomp-bpf"]
    command = [_strace(), "-f", *fast, "-qq", "-o", str(log), "-e", f"trace={fault.call}", "-e", f"inject={fault}", *argv]
    done = run_plain(command, data, environ)
    text = log.read_text("utf-8", "replace")
    log.unlink()
    fired = "(INJECTED)" in text or ("signal" in fault.effect and done.code < 0)
    return Ran(done.code, done.stdout, done.stderr, fired)


def with_fault(fault: Fault, log: Path) -> Callable[[list[str], bytes, Mapping[str, str]], Ran]:
    """run_with, for those who bring a command of their own."""
    return lambda argv, data, environ: run_with(fault, argv, data, environ, log)


def calls(argv: Sequence[str], data: bytes, environ: Mapping[str, str], log: Path) -> list[str]:
    """Every system call of an undisturbed run, as strace writes them."""
    done = run_plain([_strace(), "-f", "-qq", "-s", "64", "-o", str(log), *argv], data, environ)
    lines = log.read_text("utf-8", "replace").splitlines()
    log.unlink()
    if done.code:
        raise AssertionError(f"the dry run of {argv} ended with {done.code}: {done.stderr!r}")
    return lines


def first_numbers(lines: Sequence[str], is_mark: Callable[[str], bool]) -> dict[str, int]:
    """For each name of a call made at or behind the mark, the number of the first such call."""
    seen: dict[str, int] = {}
    first: dict[str, int] = {}
    marked = False
    for line in lines:
        match = _CALL.match(line)
        if match is None:
            continue
        name = match[1]
        seen[name] = seen.get(name, 0) + 1
        marked = marked or is_mark(line)
        if marked:
            first.setdefault(name, seen[name])
    if not first:
        raise AssertionError("the mark was never passed: the sweep would test nothing")
    return first


def sweep(call: str, effect: str, first: int, run: Callable[[Fault], bool], *, onward: bool = False, limit: int = 2000) -> int:
    """Call `run` with N = first, first + 1 ... until it says that nothing was injected; how many faults there were."""
    for number in range(first, first + limit):
        if not run(Fault(call, effect, number, onward)):
            return number - first
    raise AssertionError(f"{call} still fires after {limit} calls")


def _strace() -> str:
    found = shutil.which("strace")
    if found is None:
        raise AssertionError("strace is not installed")
    return found

