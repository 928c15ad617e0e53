"""search, context, show, sessions, timeline: what is stored, as a person and a program get to see it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.ledger.store import Ledger
from hindbrain.serve import moments
from hindbrain.serve.memory import Memory
from tests.serve.commands import CommandLine, Ran, at, fill
from tests.serve.test_transcripts import line


@pytest.fixture
def ids(run: CommandLine) -> dict[str, str]:
    return fill(run.home, run.folder)


def found(ran: Ran) -> list[str]:
    assert ran.code == 0, ran
    return [each["id"] for each in ran.data]


def test_a_search_stays_in_the_project_of_the_current_directory(run: CommandLine, ids: dict[str, str]) -> None:
    here, everywhere = run("search", "login", "--json"), run("search", "login", "--all-projects", "--json")
    assert ids["foreign"] not in found(here) and ids["prompt"] in found(here)
    assert set(found(everywhere)) - set(found(here)) == {ids["foreign"]}


@pytest.mark.parametrize("name", ["other", "../other", "{parent}/other"])
def test_a_project_is_named_by_name_or_folder(run: CommandLine, ids: dict[str, str], name: str) -> None:
    assert found(run("search", "login", "--project", name.format(parent=run.folder.parent), "--json")) == [ids["foreign"]]


def test_a_hit_is_one_line_with_id_time_role_agent_and_text(run: CommandLine, ids: dict[str, str]) -> None:
    ran = run("search", "orders")
    assert ran.out == f"{ids['second']}  2026-11-04T12:00Z  user         claude-code  use PostgreSQL for the orders service\n"


def test_an_unknown_project_is_said_and_is_no_error(run: CommandLine, ids: dict[str, str], tmp_path: Path) -> None:
    for command in (("search", "login"), ("sessions",), ("timeline",), ("context", "login")):
        ran = run(*command, "--project", "nosuch")
        said = "nothing is stored of the project nosuch\nhint: --all-projects looks everywhere\n"
        assert ran == Ran(0, "", said), command
    assert run("search", "login", "--project", "nosuch", "--json").data == []


def test_a_home_with_nothing_in_it_is_said_and_is_no_error(run: CommandLine) -> None:
    for command in (("search", "login"), ("sessions",), ("timeline",), ("context", "login")):
        ran = run(*command)
        assert (ran.code, ran.out, ran.err.split("\n")[0]) == (0, "", "nothing is stored yet"), command
    assert not run.home.root.exists()


def test_times_and_roles_narrow_a_search(run: CommandLine, ids: dict[str, str]) -> None:
    words = ("search", "login", "test", "clock", "pytest", "orders", "--json")
    every = {ids[name] for name in ("prompt", "reply", "call", "second")}
    assert set(found(run(*words))) == every
    assert set(found(run(*words, "--after", "2026-11-03"))) == {ids["call"], ids["second"]}
    assert set(found(run(*words, "--after", "2026-11-03T12:00:00.001Z"))) == {ids["second"]}
    assert set(found(run(*words, "--before", "2026-11-03T12:00Z"))) == {ids["prompt"], ids["reply"]}
    assert set(found(run(*words, "--as-of", "2026-11-02"))) == {ids["prompt"], ids["reply"]}
    assert set(found(run(*words, "--role", "user"))) == {ids["prompt"], ids["second"]}
    assert set(found(run(*words, "--role", "tool_call"))) == {ids["call"]}
    assert found(run(*words, "--after", "2999-01-01")) == []
    assert set(found(run(*words, "--as-of", "9999-12-31"))) == every
    assert len(found(run(*words, "-k", "2"))) == 2


def test_a_role_is_found_behind_any_number_of_better_hits_of_another(run: CommandLine) -> None:
    noise = [
        Event(kind="turn", agent="a", session="s", at=number, key=str(number), origin="api", role="tool_result",
              text="deploy deploy", cwd=str(run.folder)) for number in range(450)
    ]  # fmt: skip
    with Memory(run.home.root) as memory:
        recorder = Recorder(run.home.root)
        recorder.record(noise, 1)
        recorder.close()
        wanted = memory.record(agent="a", session="t", role="user", text="please deploy the shop to the new machine",
                               project=str(run.folder))  # fmt: skip
        memory.settle()
    assert found(run("search", "deploy", "--role", "user", "--json")) == [wanted]


def test_a_replaced_memory_is_found_only_as_of_its_time(run: CommandLine) -> None:
    with Memory(run.home.root) as memory:
        old = memory.remember("staging is read-only", project=str(run.folder), at=at(1))
        memory.settle()
        new = memory.correct(old, "staging takes writes", at=at(5))
        memory.settle()
    kept = [each for each in found(run("search", "staging", "--json")) if each.startswith("m_")]
    then = [each for each in found(run("search", "staging", "--as-of", "2026-11-03", "--json")) if each.startswith("m_")]
    before = [each for each in found(run("search", "staging", "--before", "2026-11-03", "--json")) if each.startswith("m_")]
    assert (kept, then, before) == ([new], [old], [])


def test_an_explanation_tells_own_words_from_neighbours_session_and_memory(run: CommandLine, ids: dict[str, str]) -> None:
    run("remember", "the login cookie is signed")
    hits = {each["id"]: each for each in run.one("search", "login", "test", "fail")}
    for hit in hits.values():
        assert sum(hit["parts"].values()) == pytest.approx(hit["score"])
    prompt, reply = hits[ids["prompt"]]["parts"], hits[ids["reply"]]["parts"]
    assert prompt["own_words"] > 0 and hits[ids["prompt"]]["shared_words"] == ["login", "test", "fail"]
    assert reply["own_words"] == 0 < reply["neighbours"] and hits[ids["reply"]]["shared_words"] == []
    memory = next(each for each in hits.values() if each["kind"] == "fact")
    assert memory["parts"]["memory"] > 0
    lines = run("search", "login", "test", "fail", "--explain").out.splitlines()
    told = lines[next(number for number, text in enumerate(lines) if text.startswith(ids["reply"])) + 1]
    assert "its own words 0.00, its neighbours' words 0." in told and "the rest of its session 0." in told
    assert any("kept as a memory 0.30" in text for text in lines)


def test_context_prints_the_block_an_agent_would_get(run: CommandLine, ids: dict[str, str]) -> None:
    run("remember", "--kind", "preference", "--global", "answer in British English")
    start, asked = run("context"), run("context", "why does the login test fail again")
    for ran in (start, asked):
        assert ran.code == 0 and ran.out.startswith("<hindbrain-memory ") and ran.out.endswith("</hindbrain-memory>\n")
        assert "answer in British English" in ran.out and ids["foreign"][:6] not in ran.out
    assert ids["second"][:6] in start.out and ids["second"][:6] not in asked.out and ids["prompt"][:6] in asked.out
    data = run.one("context", "why does the login test fail again")
    assert data["text"] + "\n" == asked.out and data["event"] == "UserPromptSubmit"
    assert {each["id"] for each in data["items"]} >= {ids["prompt"]}


def test_context_keeps_to_its_budget_and_says_when_it_is_empty(run: CommandLine, ids: dict[str, str]) -> None:
    ran = run("context", "zebra crossing stripes")
    assert ran == Ran(0, "", f"an agent would be told nothing: nothing fits in {run.folder}\n")
    assert run.one("context", "login test fail", "--budget", "90")["tokens"] <= 90
    assert run("context", "login test fail", "--budget", "1").out == ""


def test_a_turn_is_shown_with_where_it_comes_from(run: CommandLine, ids: dict[str, str]) -> None:
    shown = run.one("show", ids["prompt"][:12])
    (segment,) = run.home.journal.glob("*.log")
    assert shown["text"] == "why does the login test fail?" and shown["at"] == "2026-11-01T12:00:00Z"
    assert (shown["session"], shown["agent"], shown["project"], shown["origins"]) == ("talk-1", "claude-code", "shop", ["api"])
    assert shown["journal"]["file"] == str(segment) and shown["source"] is None
    with segment.open("rb") as file:
        file.seek(shown["journal"]["start"])
        assert b"why does the login test fail?" in file.read(1000)


def test_a_session_is_shown_in_order_and_bounded(run: CommandLine, ids: dict[str, str]) -> None:
    ran = run("show", "talk-1", "--limit", "2")
    assert [text.split("  ")[0] for text in ran.out.splitlines() if text.startswith("e_")] == [ids["prompt"], ids["reply"]]
    assert ran.err == "1 more turns; --limit 3 shows all\n"
    data = run.one("show", "talk-1")
    assert [each["id"] for each in data["turns"]] == [ids["prompt"], ids["reply"], ids["call"]]
    assert run.one("show", data["id"][:8]) == data


def test_a_memory_leads_down_to_the_turn_it_rests_on(run: CommandLine) -> None:
    old = run.one("remember", "staging", "is", "read-only")["id"]
    new = run.one("correct", old, "staging takes writes")["id"]
    shown, before = run.one("show", new, "--why"), run.one("show", old, "--why")
    assert (shown["supersedes"], shown["superseded_by"], shown["valid_to"]) == ([old], None, None)
    assert (before["superseded_by"], before["text"]) == (new, "staging is read-only") and before["valid_to"]
    assert [each["text"] for each in shown["evidence"]] == ["staging takes writes"]
    assert before["memories"] == [new] and shown["project"] == "shop"
    text = run("show", new, "--why").out
    assert f"replaces  {old}" in text and f"evidence  {shown['evidence'][0]['id']}" in text and "; journal " in text


def test_why_tells_who_was_told(run: CommandLine, ids: dict[str, str]) -> None:
    with Ledger.open(run.home.ledger, SystemClock()) as ledger:
        ledger.note_injections("s_hearer", [ids["prompt"]], 1_794_700_000_000)
    assert run.one("show", ids["prompt"], "--why")["told_to"] == [{"session_id": "s_hearer", "at": "2026-11-14T23:46:40Z"}]


def test_the_transcript_bytes_are_looked_up(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    folder.mkdir()
    path = folder / "s1.jsonl"
    path.write_text(line("user", "first") + line("user", "second thing", prompt="p2"))
    assert run("import", "claude-code", str(folder)).code == 0
    turn = run.one("search", "second", "--all-projects")[0]["id"]

    def state() -> str:
        return str(run.one("show", turn)["source"]["state"])

    source = run.one("show", turn)["source"]
    assert path.read_bytes()[source["start"] : source["end"]] == line("user", "second thing", prompt="p2").encode()
    assert "; still there" in run("show", turn).out
    whole = path.read_bytes()
    states = [state()]
    path.write_bytes(whole[:-5])
    states.append(state())
    path.write_bytes(whole[: source["start"]] + b"x" * (len(whole) - source["start"] - 1) + b"\n")
    states.append(state())
    path.write_bytes(whole.replace(b'"sessionId": "s1"', b'"sessionId": "s2"'))
    states.append(state())
    path.unlink()
    states.append(state())
    os.mkfifo(path)
    states.append(state())
    assert states == ["there", "changed", "changed", "changed", "gone", "unreadable"]


def test_ids_are_compared_and_never_interpreted(run: CommandLine, ids: dict[str, str]) -> None:
    with Memory(run.home.root) as memory:
        for name in ("twin-session-1", "twin-session-2"):
            memory.record(agent="a", session=name, role="user", text="hi", project=str(run.folder))
        memory.settle()
    twins = run("show", "twin-session")
    listed = {each["id"] for each in run.one("sessions", "-k", "100") if each["session"].startswith("twin")}
    assert twins.code == 2 and all(each in twins.err for each in listed) and len(listed) == 2
    assert run("show", "twin-session-1").code == 0
    for typed in ("%", "e_%", "e_%%%%%%", "e______", "' OR 1=1 --", "e_*", "e_ffffffffffffffffffffffff", "nope", "x" * 100_000,
                  "\udcff\udcfe\udcfd\udcfc\udcfb\udcfa", "e_\U0001f600\U0001f600\U0001f600\U0001f600"):  # fmt: skip
        ran = run("show", typed)
        assert (ran.code, ran.out, len(ran.err.splitlines())) == (6, "", 2), (typed[:40], ran)
        assert len(ran.err) < 1000


def test_sessions_are_one_line_each_newest_first(run: CommandLine, ids: dict[str, str]) -> None:
    lines = [text.split("turns  ")[1] for text in run("sessions").out.splitlines()]
    assert lines == ["use PostgreSQL for the orders service", "why does the login test fail?"]
    data = run.one("sessions", "--all-projects")
    assert [(each["session"], each["turns"], each["project"]) for each in data] == [
        ("talk-3", 1, "other"), ("talk-2", 1, "shop"), ("talk-1", 3, "shop")
    ]  # fmt: skip
    assert len(run.one("sessions", "--all-projects", "--limit", "1")) == 1


def test_the_timeline_groups_by_day_with_the_newest_last(run: CommandLine, ids: dict[str, str]) -> None:
    with Memory(run.home.root) as memory:
        memory.record(agent="codex", session="mute", role="assistant", text="nobody asked", at=at(4, 13), project=str(run.folder))
        memory.settle()
    data = run.one("sessions")
    name = {each["session"]: each["id"] for each in data}
    assert run("timeline").out.splitlines() == [
        "2026-11-01",
        f"  {name['talk-1']}  claude-code  shop",
        f"    12:00Z  {ids['prompt']}  why does the login test fail?",
        "2026-11-04",
        f"  {name['talk-2']}  claude-code  shop",
        f"    12:00Z  {ids['second']}  use PostgreSQL for the orders service",
        f"  {name['mute']}  codex  shop",
    ]
    assert [each["turn"] for each in run.one("timeline", "--since", "2026-11-02")] == [ids["second"], None]
    assert [each["turn"] for each in run.one("timeline", "--all-projects", "--limit", "1")] == [ids["foreign"]]
    assert run("timeline", "--since", "2999-01-01").err == f"nothing was asked in {run.folder} since then\n"


def test_control_characters_in_stored_text_are_shown_and_not_sent(run: CommandLine) -> None:
    hostile = "zebra \x1b]52;c;eA==\x07 \u202e\u200b\x9b31m \r\n\t second line"
    with Memory(run.home.root) as memory:
        turn = memory.record(agent="bad\x1b[2J", session="s\x1b[1m", role="user", text=hostile, project=str(run.folder))
        kept = memory.remember(hostile, project=str(run.folder))
        memory.settle()
    session = run.one("show", turn)["session_id"]
    for command in (
        ("search", "zebra", "--explain"), ("show", turn, "--why"), ("show", session), ("show", kept, "--why"), ("sessions",),
        ("timeline",), ("context", "zebra second line"), ("forget", turn, "--dry-run"), ("pin", kept), ("forget", turn, "--yes"),
    ):  # fmt: skip
        ran = run(*command)
        shown = (ran.out + ran.err).replace("\n", "")
        assert ran.code == 0 and shown.isprintable(), (command, ran)
    assert "\\x1b]52" in run("search", "zebra").out
    raw = run("search", "zebra", "--json").out
    assert raw.isascii() and json.loads(raw)[0]["text"].startswith("zebra \x1b]52")


def test_a_date_is_iso_and_utc_unless_it_says_otherwise() -> None:
    assert [moments.when(moments.typed(text)) for text in ("2026-11-15", "2026-11-15T14:30+02:00", "20261115T143000Z")] == [
        "2026-11-15T00:00:00Z", "2026-11-15T12:30:00Z", "2026-11-15T14:30:00Z"
    ]  # fmt: skip
    assert moments.when(moments.typed("2026-11-15", end_of_day=True)) == "2026-11-15T23:59:59Z"
    assert moments.when(moments.typed("2026-11-15T10:00", end_of_day=True)) == "2026-11-15T10:00:00Z"
    assert moments.when(moments.typed("0001-01-01T00:00+14:00")) == f"{-62135596800000 - 14 * 3600_000} ms"
    assert moments.minute((1 << 63) - 1) == "9223372036854775807 ms"
