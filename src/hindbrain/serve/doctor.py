"""A home -> a list of findings, each with what to do; and the repairs that are safe to make.

Every check looks at the real thing: it opens the ledger and has SQLite check it, unpacks the archives, fires the installed hook
as an agent would and waits for the event to arrive. A check that cannot be made is a finding, never a pass. Repairs lose
nothing: a ledger that is not sound is rebuilt beside the old one, from the journal and its archives, and the old one is kept.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError, LedgerDamaged
from hindbrain.base.files import Lock, ensure_private_dir
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import session_id
from hindbrain.capture.hook import wake
from hindbrain.capture.launcher import LAUNCHER, install_launcher
from hindbrain.capture.record import Recorder
from hindbrain.journal.read import Damage, Record, archives, read_archive, read_segment, segments
from hindbrain.ledger.check import problems, repair_index
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.rebuild import carry_jobs, rebuild, swap_in
from hindbrain.ledger.store import Ledger
from hindbrain.serve import daemon, reasoning_state
from hindbrain.serve.cap_state import HINT as CAPS_HINT
from hindbrain.serve.engines import Shared, shared_problems
from hindbrain.serve.install.check import findings
from hindbrain.serve.model_state import noted
from hindbrain.serve.shared_status import look_shared
from hindbrain.serve.status import look, opened
from hindbrain.serve.work import counted

Grade = Literal["ok", "warning", "problem"]

LOW_DISK_BYTES: Final = 200 << 20
LAG_SECONDS: Final = 300.0
_ARRIVAL_SECONDS: Final = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check saw."""

    check: str
    grade: Grade
    found: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Doctor:
    """The checks of one home. `step` is told what is being looked at."""

    home: Home
    clock: Clock
    step: Callable[[str], None]
    shared: Shared | None = None
    config: Config | None = None

    def examine(self, *, fire: bool = True) -> list[Finding]:
        """All checks; `fire` sends a real event through the installed hook."""
        if not self.home.root.is_dir():
            hint = "nothing has been captured yet, or --home names another place"
            return [Finding("home", "problem", f"{self.home.root} does not exist", hint)]
        checks: list[tuple[str, Callable[[], Iterator[Finding]]]] = [
            ("home", self._home), ("files", self._modes), ("disk", self._disk), ("archives", self._archives),
            ("ledger", self._ledger), ("embedding", self._embedding), ("hook", self._hook if fire else self._launcher),
            ("install", self._installed), ("status", self._status), ("jobs", self._jobs),
            ("model", self._model),
            *([("shared", self._shared_ledger)] if self.shared is not None else []),
        ]  # fmt: skip
        findings: list[Finding] = []
        for name, check in checks:
            self.step(name)
            try:
                findings += check()
            except HindbrainError as error:
                findings.append(Finding(name, "problem", error.message, error.hint))
            except OSError as error:
                findings.append(Finding(name, "problem", str(error), "check the disk and the permissions"))
        return findings

    def _home(self) -> Iterator[Finding]:
        found = self.home.root.stat()
        if found.st_uid != os.geteuid():
            yield Finding("home", "problem", f"{self.home.root} belongs to user {found.st_uid}", "use a directory of your own")
        else:
            yield Finding("home", "ok", str(self.home.root))

    def _modes(self) -> Iterator[Finding]:
        open_paths = [str(path) for path, _ in _too_open(self.home.root)]
        if open_paths:
            yield Finding("files", "problem", f"others may read {', '.join(open_paths[:3])}", "hindbrain doctor --repair")
        else:
            yield Finding("files", "ok", "readable by you alone")

    def _disk(self) -> Iterator[Finding]:
        free = shutil.disk_usage(self.home.root).free
        if free < LOW_DISK_BYTES:
            yield Finding("disk", "warning", f"{free >> 20} MB free", "make room: events that find no room are lost")
        else:
            yield Finding("disk", "ok", f"{free >> 20} MB free")

    def _archives(self) -> Iterator[Finding]:
        lines = 0
        for path in archives(self.home.archive):
            self.step(path.name)
            for item in read_archive(path):
                if isinstance(item, Damage) and item.reason.startswith("archive "):
                    yield Finding("archives", "problem", item.reason, "restore this file from a backup")
                lines += isinstance(item, Record)
        yield Finding("archives", "ok", f"{lines} lines in {len(archives(self.home.archive))} archives")

    def _ledger(self) -> Iterator[Finding]:
        if not self.home.ledger.exists():
            waiting = any(True for path in segments(self.home.journal) for _ in read_segment(path))
            hint = "the worker makes it; hindbrain daemon start"
            yield Finding("ledger", "warning" if waiting else "ok", "there is no ledger yet", hint if waiting else "")
            return
        with Ledger.open(self.home.ledger, self.clock) as ledger:
            found = problems(ledger, self.home.journal, self.home.archive)
        for problem in found:
            yield Finding("ledger", _grade(problem.severity), str(problem), problem.hint)
        if not found:
            yield Finding("ledger", "ok", "sound")

    def _embedding(self) -> Iterator[Finding]:
        from hindbrain.serve.derived import embedding_findings  # loads numpy

        with contextlib.ExitStack() as stack:
            ledger = opened(self.home, self.clock)
            if ledger is None or self.config is None:
                return
            stack.enter_context(ledger)
            for grade, said, hint in embedding_findings(self.config, ledger, self.clock, self.step):
                yield Finding("embedding", grade, said, hint)

    def _launcher(self) -> Iterator[Finding]:
        launcher = self.home.root / LAUNCHER
        if not launcher.exists():
            yield Finding("hook", "warning", "no launcher is installed", "hindbrain doctor --repair writes it")
        else:
            yield Finding("hook", "ok", str(launcher))

    def _hook(self) -> Iterator[Finding]:
        """Fire the launcher as an agent would, and follow the event through journal and ledger to a search hit."""
        launcher = self.home.root / LAUNCHER
        if not launcher.exists():
            yield from self._launcher()
            return
        token = f"hindbraindoctor{time.time_ns()}"
        payload = json.dumps({
            "session_id": token, "cwd": "/nonexistent/hindbrain-doctor", "hook_event_name": "UserPromptSubmit",
            "prompt_id": token, "prompt": f"{token} is a test",
        }).encode()  # fmt: skip
        argv = [*install_launcher(self.home.root), "claude-code"]
        environ = {**os.environ, "HINDBRAIN_HOME": str(self.home.root)}
        environ.pop("HINDBRAIN_GUARD", None)
        ran = subprocess.run(argv, input=payload, capture_output=True, env=environ, timeout=30, check=False)
        if ran.returncode or ran.stdout:
            said = f"it ended with {ran.returncode} and printed {ran.stdout[:80]!r}"
            yield Finding("hook", "problem", said, "install it again")
        elif not self._arrives(token):
            yield Finding("hook", "problem", "a test event did not reach the ledger", f"see {self.home.log / 'worker.log'}")
        else:
            self._take_back(token)
            yield Finding("hook", "ok", "a test event went through hook, journal and ledger and was found by search")

    def _arrives(self, token: str) -> bool:
        deadline = time.monotonic() + _ARRIVAL_SECONDS
        while time.monotonic() < deadline:
            if (ledger := opened(self.home, self.clock)) is not None:
                with ledger:
                    if ledger.search(token, k=1):
                        return True
            time.sleep(0.05)
        return False

    def _take_back(self, token: str) -> None:
        """The test is no memory of anybody's."""
        recorder = Recorder(self.home.root)
        try:
            now = self.clock.now_ms()
            recorder.record([forget_event([session_id("claude-code", token)], now)], now)
        finally:
            recorder.close()
        wake(os.fsencode(self.home.root))

    def _installed(self) -> Iterator[Finding]:
        for grade, text, hint in findings(self.home, os.environ):
            yield Finding("install", grade, text, hint)

    def _status(self) -> Iterator[Finding]:
        seen = look(self.home, self.clock)
        if seen.lost.count:
            said = f"{seen.lost.count} events were lost, last reason {seen.lost.reason}"
            yield Finding("capture", "warning", said, "make room or repair the home; what is lost stays counted")
        if seen.stored.damaged or seen.stored.torn:
            found = f"{seen.stored.damaged} damaged and {seen.stored.torn} torn lines"
            yield Finding("journal", "warning", found, f"copies are in {self.home.damage}")
        if seen.lag.oldest_seconds is not None and seen.lag.oldest_seconds > LAG_SECONDS:
            said = f"{seen.lag.lines} lines wait since {seen.lag.oldest_seconds:.0f} s"
            yield Finding("worker", "problem", said, "hindbrain daemon start")
        elif seen.worker_error:
            yield Finding("worker", "warning", seen.worker_error, f"see {self.home.log / 'worker.log'}")
        else:
            yield Finding("worker", "ok", f"pid {seen.worker_pid}" if seen.worker_pid else "not running; a hook starts it")

    def _jobs(self) -> Iterator[Finding]:
        parked = counted(self.home, self.shared, self.clock)["parked"]
        if parked:
            hint = "see why with `hindbrain jobs list --state parked`, then `hindbrain jobs retry` or `hindbrain jobs cancel`"
            yield Finding("jobs", "warning", f"{parked} parked: they failed for good, or too often", hint)
        else:
            yield Finding("jobs", "ok", "none is parked")

    def _model(self) -> Iterator[Finding]:
        if self.config is None or not self.config.model:
            return
        found = noted(self.config)
        several = len(self.config.model) > 1
        for name, each in found.items():
            meanwhile = "" if each.what == "away" else "; rules do its work meanwhile"
            yield Finding("model", "warning", f"{each.told(name if several else '')}: {each.said}{meanwhile}", each.hint)
        without = self._without_model(self.config)
        for kind, why in without.items():
            yield Finding("model", "warning", f"{kind} works without the model today: {why}", CAPS_HINT)
        if not found and not without:
            yield Finding("model", "ok", ", then ".join(self.config.model))

    def _without_model(self, config: Config) -> dict[str, str]:
        ledger = opened(self.home, self.clock) if self.shared is None else self.shared.open_to_ask()
        if ledger is None:
            return {}
        with ledger, ledger.reading() as database:
            return reasoning_state.without(database, config, self.clock)

    def _shared_ledger(self) -> Iterator[Finding]:
        assert self.shared is not None
        state = look_shared(self.shared, self.clock)
        if state.schema is None:
            yield Finding("shared", "problem", state.error, state.hint)
            return
        with self.shared.open_to_ask() as ledger:
            found = shared_problems(ledger)
        yield from (Finding("shared", _grade(problem.severity), str(problem), problem.hint) for problem in found)
        if state.error:
            yield Finding("shared", "warning", state.error, state.hint)
        elif state.behind.oldest_seconds is not None and state.behind.oldest_seconds > LAG_SECONDS:
            said = f"{state.behind.lines} lines wait since {state.behind.oldest_seconds:.0f} s to be shared"
            yield Finding("shared", "warning", said, "hindbrain daemon start")
        elif not found:
            said = f"{self.shared.name}: {state.server}, schema {state.schema}, row security and index in order"
            yield Finding("shared", "ok", f"{said}; {state.behind.lines} lines wait")

    def repair(self) -> list[str]:
        """Make the safe repairs; what was done. The worker is stopped meanwhile and comes back with the next hook."""
        done: list[str] = []
        ensure_private_dir(self.home.root)
        for path, mode in list(_too_open(self.home.root)):
            path.chmod(mode)
            done.append(f"{path} is private again")
        if not (self.home.root / LAUNCHER).exists():
            install_launcher(self.home.root)
            done.append("the launcher was written")
        daemon.stop(self.home.root)
        with Lock(self.home.worker_lock):
            done += self._repair_ledger()
        return done

    def rebuild_index(self) -> list[str]:
        """Make everything anew that is made from the ledger's rows; what was done. The worker is stopped meanwhile."""
        from hindbrain.serve.derived import rebuild_derived

        daemon.stop(self.home.root)
        if not self.home.ledger.exists() or self.config is None:
            return []
        with Lock(self.home.worker_lock), Ledger.open(self.home.ledger, self.clock) as ledger:
            return rebuild_derived(self.config, ledger, self.clock, self.step)

    def _repair_ledger(self) -> list[str]:
        if not self.home.ledger.exists():
            return []
        needed = self._repairs_needed()
        if needed == {"reindex"}:
            with Ledger.open(self.home.ledger, self.clock) as ledger:
                repair_index(ledger)
            return ["the full-text index was made anew"]
        if "rebuild" not in needed:
            return []
        fresh = self.home.ledger.with_name("ledger.rebuild.db")
        rebuild(self.home.archive, self.home.journal, events_of, fresh, self.clock, progress=self.step)
        carry_jobs(self.home.ledger, fresh, self.clock)
        kept = swap_in(fresh, self.home.ledger, self.clock)
        return [f"the ledger was rebuilt from the journal; the old one is {kept}"]

    def _repairs_needed(self) -> set[str]:
        try:
            with Ledger.open(self.home.ledger, self.clock) as ledger:
                return {str(problem.repair) for problem in problems(ledger, self.home.journal, self.home.archive)}
        except LedgerDamaged:
            return {"rebuild"}


def _grade(severity: str) -> Grade:
    return "problem" if severity == "error" else "warning"


def _too_open(root: Path) -> Iterator[tuple[Path, int]]:
    """Files and folders of a home that others could enter, with the mode they should have."""
    for folder, _, names in os.walk(root):
        for path, mode in ((Path(folder), 0o700), *((Path(folder) / name, 0o600) for name in names)):
            found = path.lstat()
            # a sealed segment is 0400: stricter is fine
            if not stat.S_ISLNK(found.st_mode) and stat.S_IMODE(found.st_mode) & 0o077:
                yield path, mode
