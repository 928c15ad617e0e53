"""What a cap keeps from being asked is told by status and doctor, for as long as it is so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.reason.model.asked import Question
from hindbrain.serve.cap_state import HINT, capped, capping
from hindbrain.serve.memory import Memory
from tests.reason.model.model_server import ModelServer, Reply, serving
from tests.serve.commands import CommandLine
from tests.serve.test_model_use import At
from tests.serve.test_reasoning import CHOSEN, CLOCK, STATED, modelled, tell

RULE = "Always run make lint before you commit."
REASONS = {
    "MODEL_DAILY_TOKENS": ("extract", "3000", "the day's tokens have no room: 0 of 3,000 used, and a question may take 3,"),
    "MODEL_KIND_DAILY_TOKENS": (
        "extract", "3000", "the day's tokens of the kind extract have no room: 0 of 3,000 used, and a question may take 3,",
    ),
    "MODEL_PROJECT_DAILY_COST": (
        "extract of project shop", "0.01",
        "the day's money of this project has no room: 0.00 of 0.01 US dollars used, and a question may take 0.0",
    ),
}  # fmt: skip


@pytest.fixture(params=["sqlite", "postgresql"])
def home(request: pytest.FixtureRequest, run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line, with jobs in the home's own ledger or in a shared one."""
    if request.param == "postgresql":
        monkeypatch.setenv("HINDBRAIN_DATABASE", request.getfixturevalue("pg_url"))
    return run


def settings(server: ModelServer, **more: str) -> dict[str, str]:
    return {"MODEL": "openai:small-model", "MODEL_URL": f"{server.url}/v1", "MODEL_KEY": "sk", "MODEL_NIGHT": "true", **more}


def use(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"HINDBRAIN_{name}", value)


def read(home: CommandLine, session: str, *texts: str) -> None:
    with Memory.open(home.home.root) as memory:
        tell(memory, session, *texts)
        memory.settle()


def without(home: CommandLine) -> dict[str, str]:
    found: dict[str, str] = home.one("status")["reasoning"]["model"]["without"]
    return found


def found_by_doctor(home: CommandLine) -> list[tuple[str, str, str]]:
    data = home("doctor", "--json").data
    return [(each["grade"], each["found"], each["hint"]) for each in data if each["check"] == "model"]


@pytest.mark.parametrize("name", REASONS)
def test_status_and_doctor_say_what_goes_by_rules_and_why(
    home: CommandLine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    what, cap, why = REASONS[name]
    with serving([Reply("no")]) as server:
        use(monkeypatch, settings(server, **{name: cap}))
        read(home, "s1", CHOSEN, RULE)
        assert [each for each in server.requests if "statements" not in each.text and CHOSEN in each.text] == []
    assert without(home)[what].startswith(why)
    assert f"; {what} works without the model: {why}" in home("status").out
    grade, said, hint = next(each for each in found_by_doctor(home) if each[1].startswith(f"{what} works"))
    assert (grade, hint) == ("warning", HINT) and said.startswith(f"{what} works without the model today: {why}")
    monkeypatch.setenv(f"HINDBRAIN_{name}", "0")  # no cap
    assert (without(home), found_by_doctor(home)) == ({}, [("ok", "openai:small-model", "")])


def test_it_is_no_longer_said_when_there_is_room_again(home: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    words = " ".join(f"word{number}" for number in range(400))
    with serving([Reply(json.dumps({"statements": []}))]) as server:
        use(monkeypatch, settings(server, MODEL_KIND_DAILY_TOKENS="4500"))
        read(home, "s1", f"{CHOSEN} {words}")
        assert "extract" in without(home)
        read(home, "s2", RULE)
        assert "extract" not in without(home)


def test_the_next_day_nothing_is_said_of_it(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with serving([Reply(json.dumps({"statements": [STATED]}))]) as server:
        config = modelled(home.root, server.url, MODEL_DAILY_TOKENS="3000")
        with Memory(home.root, At(14), config=config) as memory:
            tell(memory, "s1", CHOSEN)
            memory.settle()
    assert [each.kind for each in capped(config, At(23))] == ["extract"]
    assert capped(config, At(0, day=17)) == []


def test_a_refusal_of_one_project_is_ended_by_room_for_it_alone(tmp_path: Path) -> None:
    config = modelled(tmp_path, "http://127.0.0.1:1")
    told = capping(config, CLOCK)
    one, other = (Question("extract", "1", "", "", {}, project_id=each) for each in ("p_1", "p_2"))
    told(one, "the day's money of this project is used up: 1 of 1")
    told(other, "the day's money of this project is used up: 2 of 2")
    told(Question("digest", "1", "", "", {}, project_id="p_1"), "")
    assert [each.project for each in capped(config, CLOCK)] == ["p_1", "p_2"]
    told(one, "")
    assert [each.project for each in capped(config, CLOCK)] == ["p_2"]


def test_what_is_refused_again_is_noted_once_and_with_what_is_spent_now(tmp_path: Path) -> None:
    config = modelled(tmp_path, "http://127.0.0.1:1")
    told = capping(config, CLOCK)
    for spent, size in ((1, 10), (1, 20), (2, 20)):
        told(Question("extract", "1", "", "", {}), f"no room: {spent} of 3 used, and this question may take {size}")
    assert [each.why for each in capped(config, CLOCK)] == ["no room: 2 of 3 used, and a question may take 20"]


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b"7", b"[7]", b'[{"kind": 1}]', b"\xff" * 99])
def test_a_note_of_a_cap_that_cannot_be_read_says_nothing(tmp_path: Path, content: bytes) -> None:
    config: Any = modelled(tmp_path, "http://127.0.0.1:1")
    Home(tmp_path).derived.mkdir()
    (Home(tmp_path).derived / "caps").write_bytes(content)
    assert capped(config, SystemClock()) == []
