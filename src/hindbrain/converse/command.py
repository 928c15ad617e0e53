"""A command line that answers a prompt -> how it is handed one, and whether it remembers by itself.

Agents differ in where their prompt stands: behind `-p`, behind `exec`, on standard input. Those known here get it on standard
input, because arguments are seen by whoever lists the processes; a program nobody knows gets it behind its own `-p`, or on
standard input if it has none. One that is told to go on with a session of its own (`--continue`, `exec resume`) has heard
everything already and must not be told it twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from hindbrain.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class Program:
    """What is known of a program."""

    # What stands before the prompt: an option whose value it is, an option or a subcommand that it follows.
    option: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    # What makes it go on with a session of its own.
    resumes: tuple[str, ...] = ()
    stdin: bool = True  # whether it reads its prompt there


_GENERIC: Final = Program(option=("-p", "--prompt"), resumes=("--continue", "--resume"), stdin=False)
_PROGRAMS: Final = {
    "gemini": Program(option=("-p", "--prompt"), resumes=("-r", "--resume", "--session-file")),
    "qwen": Program(option=("-p", "--prompt"), resumes=("-c", "--continue", "-r", "--resume")),
    "claude": Program(before=("-p", "--print"), resumes=("-c", "--continue", "-r", "--resume", "--from-pr")),
    "codex": Program(before=("exec", "e"), resumes=("resume", "fork")),
    "opencode": Program(before=("run",), resumes=("-c", "--continue", "-s", "--session"), stdin=False),
    "copilot": Program(option=("-p", "--prompt"), resumes=("--continue", "--resume"), stdin=False),
    "cursor-agent": Program(before=("-p", "--print"), resumes=("--continue", "--resume", "resume"), stdin=False),
    "llm": Program(resumes=("-c", "--continue", "--cid", "--conversation", "chat")),
    "aider": Program(option=("-m", "--message"), resumes=("--restore-chat-history",), stdin=False),
}  # fmt: skip
# Programs that run another; which one stands further on.
_LAUNCHERS: Final = frozenset(
    ("bun", "bunx", "env", "nice", "node", "npx", "nsenter", "pnpm", "stdbuf", "sudo", "timeout", "uvx")
)
_MAX_ARGUMENT_BYTES: Final = 120_000  # a system refuses to start a program with a longer one
# At the beginning of a word it makes an agent read the file of that name; in what is only told again nothing may do that.
_FILE: Final = re.compile(r"(?<![^\s(\[{'\"`<])@(?=\S)")
_JSON_TEXTS: Final = ("response", "result")


@dataclass(frozen=True, slots=True)
class Command:
    """A command line without its prompt, and the prompt if there was one in it."""

    argv: tuple[str, ...]
    prompt: str | None
    place: int | None  # where in argv a prompt that is an argument goes; None: standard input
    keeps_history: bool

    @classmethod
    def of(cls, argv: Sequence[str]) -> Command:
        """What a command line says."""
        words = list(argv)
        if not words or not all(isinstance(word, str) for word in words) or not words[0]:
            raise UsageError(f"{argv!r:.200} is not a command line", hint='give a list such as ["gemini", "-p"]')
        at, program = _program(words)
        keeps = any(word.split("=")[0] in program.resumes for word in words[at + 1 :])
        prompt, place, words = _taken_out(words, at, program)
        return cls(tuple(words), prompt, None if program.stdin else place, keeps)

    def told(self, text: str) -> tuple[list[str], str]:
        """What to run, and what to say to it on standard input."""
        if self.place is None:
            return list(self.argv), text
        if len(text.encode("utf-8", "surrogatepass")) > _MAX_ARGUMENT_BYTES or "\x00" in text:
            raise UsageError(
                f"a prompt of {len(text)} characters cannot be an argument of {self.argv[0]}",
                hint="leave out its -p if it reads prompts from standard input",
            )
        return [*self.argv[: self.place], text, *self.argv[self.place :]], ""


def _program(words: Sequence[str]) -> tuple[int, Program]:
    """The program that is run, and where its name stands."""
    for at, word in enumerate(words):
        name = PurePath(word).name.removesuffix(".exe").removesuffix(".js").removesuffix("-cli").removesuffix("-code")
        if name in _PROGRAMS:
            return at, _PROGRAMS[name]
        if at == 0 and name not in _LAUNCHERS:
            break
    return 0, _GENERIC


def _taken_out(words: list[str], at: int, program: Program) -> tuple[str | None, int | None, list[str]]:
    """The prompt, where it stands, and the words without it."""
    for index in range(at + 1, len(words)):
        word = words[index]
        name, equals, value = word.partition("=")
        if equals and name in program.option and name.startswith("--"):
            rest = words[:index] if program.stdin else [*words[:index], name]
            return value, len(rest), rest + words[index + 1 :]
        if word in program.option:
            rest = words[:index] if program.stdin else words[: index + 1]
            return (words[index + 1] if index + 1 < len(words) else None), len(rest), rest + words[index + 2 :]
        if word in program.before:
            return _following(words, index + 1, program)
    return None, None, words


def _following(words: list[str], index: int, program: Program) -> tuple[str | None, int | None, list[str]]:
    """The prompt that follows a word, if it is not an option; `-` says that it comes on standard input."""
    following = words[index] if index < len(words) else ""
    if not following or following in program.resumes or (following.startswith("-") and following != "-"):
        return None, index, words
    return None if following == "-" else following, index, words[:index] + words[index + 1 :]


def harmless(context: str) -> str:
    """What is told again, without the sign that would make an agent read a file."""
    return _FILE.sub("＠", context)


def reply_of(argv: Sequence[str], output: str) -> str:
    """What a program said: what it wrote, or the reply in the JSON it was asked to write."""
    text = output.strip()
    if "json" not in " ".join(argv).replace("=", " ").split():
        return text
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return text
    found = [data[name] for name in _JSON_TEXTS if isinstance(data, dict) and isinstance(data.get(name), str)]
    return str(found[0]) if found else text
