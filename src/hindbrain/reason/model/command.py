"""A question -> what the user's own `claude -p` or `codex exec` wrote; never unless it is configured.

These are agents: they have tools, hooks, memories and files of their own. So each is run with its tools off, without the user's
settings, in an empty directory, with few variables, and with the mark that keeps our own hooks from recording it. The question
goes in by standard input: an argument would be seen by whoever lists the processes. At the end, whatever the end was, its whole
process group is killed.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final

from hindbrain.base.redact import redact_text
from hindbrain.reason.model.asked import Limits, ModelName, Question, Reply
from hindbrain.reason.model.failures import KeyRefused, ModelAway, ModelFailed, ModelRefused, WrongOutput, shown

GUARD: Final = ("HINDBRAIN_GUARD", "model")  # what capture.hook looks for: a session with it is not observed
_PASSED: Final = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "SSL_CERT_FILE", "CLAUDE_CONFIG_DIR", "CODEX_HOME")
_PASSED_PREFIX: Final = ("LC_", "XDG_")
_USED_UP: Final = 900.0  # seconds until a subscription that is used up is tried again
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
        """The reply, as it came. Raises ModelFailed."""
        with tempfile.TemporaryDirectory(prefix="hindbrain-") as directory:
            is_claude = self._name.provider == "claude-cli"
            arguments = self._claude(question) if is_claude else self._codex(question, Path(directory))
            # in the text alone: `@name` makes an agent read that file; inside a JSON string this is the same letter
            told = question.text.replace("@", "\\u0040")
            told = told if is_claude else f"{question.system}\n\n{told}"
            code, out, err = self._run(arguments, told, directory)
        return self._of_claude(code, out, err) if is_claude else self._of_codex(code, out, err)

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

    def _run(self, arguments: list[str], told: str, directory: str) -> tuple[int, bytes, bytes]:
        with tempfile.TemporaryFile(dir=directory) as question:
            question.write(told.encode("utf-8", "replace"))
            question.seek(0)
            try:
                process = subprocess.Popen(  # no shell: nothing of it is read as a command
                    arguments, stdin=question, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=directory, env=self._environ,
                    start_new_session=True,
                )  # fmt: skip
            except OSError as error:
                what = f"{self._name} cannot be run: {error.strerror or type(error).__name__}"
                raise ModelRefused(what, hint=f"see that `{arguments[0]}` is installed and in PATH") from error
        deadline = time.monotonic() + self._limits.total
        try:
            assert process.stdout is not None and process.stderr is not None
            out, err = self._read(process.stdout, process.stderr, deadline)
            self._wait(process.pid, deadline)
        finally:
            _end_group(process)
        return process.returncode, out, err

    def _read(self, out: IO[bytes], err: IO[bytes], deadline: float) -> tuple[bytes, bytes]:
        """Both outputs to their end, within the limits."""
        held: dict[int, list[bytes]] = {out.fileno(): [], err.fileno(): []}
        size = 0
        with selectors.DefaultSelector() as ready:
            for file in held:
                ready.register(file, selectors.EVENT_READ)
            while ready.get_map():
                found = ready.select(max(deadline - time.monotonic(), 0.0))
                if not found:
                    raise self._late()
                for key, _ in found:
                    piece = os.read(key.fd, 1 << 16)
                    if not piece:
                        ready.unregister(key.fd)
                    held[key.fd].append(piece)
                    size += len(piece)
                if size > self._limits.bytes:
                    raise WrongOutput(f"{self._name} wrote more than {self._limits.bytes} bytes")
        return b"".join(held[out.fileno()]), b"".join(held[err.fileno()])

    def _wait(self, pid: int, deadline: float) -> None:
        """Until it has ended, and no longer; it is left to be asked for, so that nobody else gets its number yet."""
        while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
            if time.monotonic() > deadline:
                raise self._late()
            time.sleep(0.005)

    def _late(self) -> ModelAway:
        return ModelAway(f"{self._name} did not answer in time", hint="a slow model needs a larger model_timeout", paid=True)

    def _of_claude(self, code: int, out: bytes, err: bytes) -> Reply:
        said = self._json(out)
        if said is None or code != 0 or said.get("is_error"):
            raise self._failed(code, str(said.get("result", "")) if said else "", err)
        made = said.get("structured_output")
        text = json.dumps(made, ensure_ascii=False) if made is not None else str(said.get("result", ""))
        usage = said.get("usage")
        counts: dict[str, Any] = usage if isinstance(usage, dict) else {}
        put_in = sum(_count(counts, f"{each}input_tokens") for each in ("", "cache_creation_", "cache_read_"))
        return Reply(text, put_in, _count(counts, "output_tokens"))

    def _of_codex(self, code: int, out: bytes, err: bytes) -> Reply:
        text, trouble, put_in, put_out = "", "", 0, 0
        for line in out.splitlines():
            event = self._json(line) or {}
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
            raise self._failed(code, trouble, err)
        return Reply(text, put_in, put_out)

    def _json(self, data: bytes) -> dict[str, Any] | None:
        try:
            found = json.loads(data.decode("utf-8", "strict"))
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _failed(self, code: int, said: str, err: bytes) -> ModelFailed:
        why = shown(redact_text(said or err.decode("utf-8", "replace"))[0]) or "nothing it could be read"
        what = f"{self._name} ended with code {code}: {why}"
        lower = why.lower()
        if any(word in lower for word in ("log in", "login", "api key", "not authenticated", "unauthorized", "credit balance")):
            return KeyRefused(what, hint=f"run `{self._name.provider.removesuffix('-cli')}` once by hand and sign in")
        if "model" in lower and any(word in lower for word in ("not found", "not exist", "not supported", "invalid")):
            return ModelRefused(what, hint="see the setting model")
        if "limit" in lower:
            return ModelAway(what, after=_USED_UP)
        return ModelAway(what)


def _end_group(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # it has gone; macOS says it in the second way
        pass
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else 0
