"""What an agent is told comes from the shared ledger when it answers in time, and from this machine's own when it does not."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import LedgerUnreachable
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.serve.warm import NoAnswer, Warm
from tests.serve.installed import prompt, until
from tests.serve.sharing import Machine, machine

LONG = 30.0


@pytest.fixture
def laptop(tmp_path: Path, pg_url: str) -> Iterator[Machine]:
    with machine(tmp_path / "laptop", pg_url) as made:
        yield made


@pytest.mark.slow
def test_an_agent_is_told_what_another_machine_was_told(laptop: Machine, tmp_path: Path, pg_url: str) -> None:
    folder = str(tmp_path)
    laptop.tell("the payments gateway retries three times with backoff", project=folder)
    with machine(tmp_path / "desktop", pg_url) as desktop:
        hook = desktop.installed()
        numbers = iter(range(10_000))

        def told() -> bool:
            number = next(numbers)
            call = prompt(f"new {number}", number, "how often does the payments gateway retry", cwd=folder)
            argv = [*hook.hook, "claude-code", "UserPromptSubmit"]
            ran = subprocess.run(argv, input=json.dumps(call).encode(), capture_output=True, env=dict(hook.environ), check=True)
            return b"retries three times" in ran.stdout

        until(told, "an answer from the shared ledger", seconds=60)


@pytest.fixture
def local(tmp_path: Path) -> Path:
    Ledger.open(tmp_path / "ledger.db", SystemClock()).close()
    return tmp_path / "ledger.db"


def opened(path: Path) -> Evidence:
    return Ledger.open(path, SystemClock(), read_only=True)


def ready(warm: Warm) -> None:
    def answers() -> bool:
        try:
            return warm.ask(lambda ledger: ledger.meta("x") == "", LONG)
        except NoAnswer:
            return False

    until(answers, "the ledger to be open")


def test_a_question_is_answered_and_the_next_one_too(local: Path) -> None:
    warm = Warm(lambda: opened(local), SystemClock())
    warm.start()
    try:
        ready(warm)
        assert [warm.ask(lambda ledger: ledger.counts().turns, LONG) for _ in range(3)] == [0, 0, 0]
    finally:
        warm.close()


def test_a_server_that_hangs_holds_up_nobody(local: Path) -> None:
    release = threading.Event()
    warm = Warm(lambda: opened(local), SystemClock())
    warm.start()
    try:
        ready(warm)
        with pytest.raises(NoAnswer):
            warm.ask(lambda ledger: release.wait(LONG), 0.01)
        with pytest.raises(NoAnswer):  # at once: it is not waited for a second time
            warm.ask(lambda ledger: True, LONG)
    finally:
        release.set()
        warm.close()


def test_a_ledger_that_cannot_be_opened_is_no_answer_and_is_tried_again_later() -> None:
    tried = threading.Event()

    def refuse() -> Evidence:
        tried.set()
        raise LedgerUnreachable("connection refused")

    warm = Warm(refuse, SystemClock())
    warm.start()
    try:
        assert tried.wait(LONG)
        with pytest.raises(NoAnswer):
            warm.ask(lambda ledger: True, LONG)
    finally:
        warm.close()


def test_a_question_that_fails_is_no_answer(local: Path) -> None:
    warm = Warm(lambda: opened(local), SystemClock())
    warm.start()
    try:
        ready(warm)

        def fail(ledger: Evidence) -> bool:
            raise LedgerUnreachable("the connection was lost")

        with pytest.raises(NoAnswer):
            warm.ask(fail, 0.05)
    finally:
        warm.close()
