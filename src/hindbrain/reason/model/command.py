"""A question -> what the user's own `claude -p` or `codex exec` wrote; never unless it is configured.

These are agents: they have tools, hooks, memories and files of their own. So each is run with its tools off, without the user's
settings, in an empty directory, with few variables, and with the mark that keeps our own hooks from recording it. The question
goes in by standard input: an argument would be seen by whoever lists the processes. At the end, whatever the end was, it is ended
with all it started, as far as the system lets us: see processes.py.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from hindbrain.base.redact import redact_text
from hindbrain.reason.model import processes
from hindbrain.reason.model.asked import Limits, ModelName, Question, Reply
from hindbrain.reason.model.failures import KeyRefused, ModelAway, ModelFailed, ModelRefused, WrongOutput, shown

GUARD: Final = ("HINDBRAIN_GUARD", "model")  # what capture.hook looks for: a session with it is not observed
_PASSED: Final = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
_PASSED_PREFIX: Final = ("LC_", "XDG_")
_USED_UP: Final = 900.0  # seconds until a subscription that is used up is tried again
_LOOK: Final = 0.05  # seconds between two looks whether it has ended, or is no longer wanted
_SHORT_LOOK: Final = 0.005  # it has closed what it writes to: it is about to end
_LAST_WORDS: Final = 1.0  # for what is still to be read of one that has ended, while what it left behind writes on
_TOOLS: Final = ("command_execution", "file_change", "mcp_tool_call", "web_search", "collab_tool_call")


class Commanded:
    """A model behind a command line of the user's."""

    def __init__(self, name: ModelName, limits: Limits, environ: Mapping[str, str]) -> None:
        self._name = name
        self._limits = limits
        passed = {each: value for each, value in environ.items() if each in _PASSED or each.startswith(_PASSED_PREFIX)}
        self._environ = {**passed, GUARD[0]: GUARD[1]}

    def __repr__(self) -> str:
        return f"Commanded({self._name})"

    @property
    def name(self) -> ModelName:
        return self._name

    def ask(self, question: Question) -> Reply:
        """The reply, as it came. Raises ModelFailed, and whatever the question's check raises."""
        is_claude = self._name.provider == "claude-cli"
        with processes.call() as (mark, directory):
            arguments = self._claude(question) if is_claude else self._codex(question, Path(directory))
            # in the text alone: `@name` makes an agent read that file; inside a JSON string this is the same letter
            told = question.text.replace("@", "\\u0040")
            told = told if is_claude else f"{question.system}\n\n{told}"
            process = self._started(arguments, told, directory, mark)
            try:
                out, err = self._read(process, question.check)
            finally:
                processes.end_group(process)
        return self._of_claude(process.returncode, out, err) if is_claude else self._of_codex(process.returncode, out, err)

    def _claude(self, question: Question) -> list[str]:
        return [
            "claude", "-p", "--model", self._name.model, "--output-format", "json", "--json-schema", json.dumps(question.schema),
            "--no-session-persistence", "--setting-sources", "", "--tools", "", "--strict-mcp-config",
            "--system-prompt", question.system,
        ]  # fmt: skip

    def _codex(self, question: Question, directory: Path) -> list[str]:
        schema = directory / "schema.json"
        schema.write_text(json.dumps(question.schema), "utf-8")
        off = ("features.shell_tool=false", "features.unified_exec=false", 'web_search="disabled"', "mcp_servers={}")
        return [
            "codex", "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral", "--json",
            "--output-schema", str(schema), *(word for each in off for word in ("-c", each)), "--model", self._name.model, "-",
        ]  # fmt: skip

    def _started(self, arguments: list[str], told: str, directory: str, mark: str) -> subprocess.Popen[bytes]:
        with tempfile.TemporaryFile(dir=directory) as question:
            question.write(told.encode("utf-8", "replace"))
            question.seek(0)
            try:
                return subprocess.Popen(  # no shell: nothing of it is read as a command
                    arguments, stdin=question, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory,
                    env={**self._environ, processes.MARK: mark}, start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                what = f"{self._name} cannot be run: {error.strerror or type(error).__name__}"
                raise ModelRefused(what, hint=f"see that `{arguments[0]}` is installed and in PATH") from error

    def _read(self, process: subprocess.Popen[bytes], check: Callable[[], None]) -> tuple[bytes, bytes]:
        """Both outputs, within the limits: to their end, or as far as they go when the process itself has ended. What it has left
        running may hold them open for as long as it likes."""
        assert process.stdout is not None and process.stderr is not None
        held: dict[int, list[bytes]] = {process.stdout.fileno(): [], process.stderr.fileno(): []}
        size, deadline, ended = 0, time.monotonic() + self._limits.total, False
        with selectors.DefaultSelector() as ready:
            for file in held:
                ready.register(file, selectors.EVENT_READ)
            while ready.get_map() or not ended:
                check()
                if not ended and _has_ended(process.pid):
                    ended, deadline = True, min(deadline, time.monotonic() + _LAST_WORDS)
                found = ready.select(0.0 if ended else _LOOK if ready.get_map() else _SHORT_LOOK)
                for key, _ in found:
                    piece = os.read(key.fd, 1 << 16)
                    if not piece:
                        ready.unregister(key.fd)
                    held[key.fd].append(piece)
                    size += len(piece)
                if size > self._limits.bytes:
                    raise WrongOutput(f"{self._name} wrote more than {self._limits.bytes} bytes")
                if ended and (not found or time.monotonic() > deadline):
                    break  # everything it wrote was there to be read
                if time.monotonic() > deadline:
                    raise self._late()
        out, err = (b"".join(each) for each in held.values())
        return out, err

    def _late(self) -> ModelAway:
        return ModelAway(f"{self._name} did not answer in time", hint="a slow model needs a larger model_timeout", paid=True)

    def _of_claude(self, code: int, out: bytes, err: bytes) -> Reply:
        said = _json(out)
        if isinstance(said, list):  # all messages, where the user has it talk more: the last result is the reply
            said = next((each for each in reversed(said) if isinstance(each, dict) and each.get("type") == "result"), None)
        if not isinstance(said, dict):
            raise self._unread(code, out, err)
        usage = said.get("usage")
        counts: dict[str, Any] = usage if isinstance(usage, dict) else {}
        put_in = sum(_count(counts, f"{each}input_tokens") for each in ("", "cache_creation_", "cache_read_"))
        put_out = _count(counts, "output_tokens")
        if code != 0 or said.get("is_error"):
            failure = self._failure(code, str(said.get("result", "")), err, paid=put_in + put_out > 0)
            return self._in_vain(failure, put_in, put_out)
        made = said.get("structured_output")
        text = json.dumps(made, ensure_ascii=False) if made is not None else str(said.get("result", ""))
        return Reply(text, put_in, put_out)

    def _of_codex(self, code: int, out: bytes, err: bytes) -> Reply:
        text, trouble, put_in, put_out = "", "", 0, 0
        for line in out.splitlines():
            read = _json(line)
            event: dict[str, Any] = read if isinstance(read, dict) else {}
            item = event.get("item") if isinstance(event.get("item"), dict) else {}
            assert isinstance(item, dict)
            if item.get("type") in _TOOLS:
                raise WrongOutput(f"{self._name} used a tool: {shown(str(item.get('type')))}")
            if event.get("type") == "item.completed" and item.get("type") == "agent_message":
                text = str(item.get("text", ""))
            elif event.get("type") == "turn.completed" and isinstance(event.get("usage"), dict):
                put_in, put_out = _count(event["usage"], "input_tokens"), _count(event["usage"], "output_tokens")
            elif event.get("type") in ("turn.failed", "error"):
                trouble = str(event.get("message") or event.get("error") or "failed")
        if code != 0 or trouble:
            paid = put_in + put_out > 0 or bool(text) or code < 0
            return self._in_vain(self._failure(code, trouble, err, paid=paid), put_in, put_out)
        return Reply(text, put_in, put_out)

    def _unread(self, code: int, out: bytes, err: bytes) -> ModelFailed:
        """It ended, and no reply can be found in what it wrote; where it says that all went well, it has worked."""
        failure = self._failure(code, "", err, paid=code <= 0)
        if code == 0 and out.strip() and type(failure) is ModelAway and failure.after is None:
            return WrongOutput(f"{self._name} wrote {len(out)} bytes that are no reply")
        return failure

    def _in_vain(self, failure: ModelFailed, put_in: int, put_out: int) -> Reply:
        """A reply of no use where it counted what it took and does not say that it may answer later: so that it is counted here
        too, and not asked for again and again."""
        if put_in + put_out > 0 and type(failure) is ModelAway and failure.after is None:
            return Reply("", put_in, put_out, failure.message)
        raise failure

    def _failure(self, code: int, said: str, err: bytes, *, paid: bool) -> ModelFailed:
        why = shown(redact_text(said or err.decode("utf-8", "replace"))[0]) or "nothing it could be read"
        what = f"{self._name} ended with code {code}: {why}"
        lower = why.lower()
        if any(word in lower for word in ("log in", "login", "api key", "not authenticated", "unauthorized", "credit balance")):
            return KeyRefused(what, hint=f"run `{self._name.provider.removesuffix('-cli')}` once by hand and sign in")
        if "model" in lower and any(word in lower for word in ("not found", "not exist", "not supported", "invalid")):
            return ModelRefused(what, hint="see the setting model")
        return ModelAway(what, after=_USED_UP if "limit" in lower else None, paid=paid)


def _json(data: bytes) -> Any:
    try:
        return json.loads(data.decode("utf-8", "strict"))
    except (ValueError, RecursionError):
        return None


def _has_ended(pid: int) -> bool:
    """It is left to be asked for, so that nobody else gets its number yet."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
