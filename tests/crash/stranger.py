"""Root -> hook calls of another user, with a home of its own outside of what only root may enter."""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

import hindbrain
from hindbrain.capture.launcher import launcher_source
from hindbrain.journal import losses
from tests.crash.agent import Agent
from tests.crash.strace import Ran, run_plain

STRANGER: Final = 12345
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="not run: needs root to be somebody else")


def launched(agent: Agent, package: Path) -> None:
    """Give an agent a launcher in its own home, for a package at this place."""
    agent.home.mkdir(mode=0o700, exist_ok=True)
    (agent.home / "hook.py").write_text(launcher_source(agent.home, package, "0"), "utf-8")
    agent.argv = [sys.executable, "-I", "-S", str(agent.home / "hook.py"), "claude-code"]


@contextlib.contextmanager
def stranger(hook: list[str]) -> Iterator[Agent]:
    """An agent whose home, launcher and user directory belong to another user."""
    root = Path(tempfile.mkdtemp(prefix="hindbrain-test-"))
    try:
        root.chmod(0o755)
        agent = Agent(root, hook)
        launched(agent, Path(hindbrain.__file__).parent.parent)
        losses.prepare(os.fsencode(agent.home))
        agent.argv[0] = _interpreter()
        for path in [agent.home, agent.user, *agent.home.rglob("*")]:
            os.chown(path, STRANGER, STRANGER)
        yield agent
    finally:
        shutil.rmtree(root)


def _interpreter() -> str:
    """One that the other user may run, and that can load the package."""
    package = str(Path(hindbrain.__file__).parent.parent)
    for python in (sys.executable, "/usr/bin/python3"):
        code = f"import sys; sys.path.append({package!r}); import hindbrain.journal.append; sys.exit(sys.version_info < (3, 11))"
        with contextlib.suppress(OSError):
            if subprocess.run([python, "-I", "-S", "-c", code], check=False, capture_output=True, **_identity()).returncode == 0:  # type: ignore[call-overload]
                return python
    pytest.skip("not run: no interpreter and package that another user may read")


def _identity() -> dict[str, object]:
    return {"user": STRANGER, "group": STRANGER, "extra_groups": []}


def as_stranger(argv: list[str], data: bytes, environ: Mapping[str, str]) -> Ran:
    return run_plain(argv, data, environ, **_identity())


def without_processes(argv: list[str], data: bytes, environ: Mapping[str, str]) -> Ran:
    """As the other user, who may start none; the limit does not hold root, so it is set after the change of user."""

    def limit() -> None:
        os.setgroups([])
        os.setgid(STRANGER)
        os.setuid(STRANGER)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))

    return run_plain(argv, data, environ, preexec_fn=limit)
