"""From a line of a block to everything: show tells so much that one can go on, show --full all of it."""

from __future__ import annotations

import re

import pytest

from hindbrain.serve.memory import Memory
from tests.serve.commands import CommandLine, at, fill

LONG = "The exporter writes day, month, year. " + "A sentence of the middle. " * 400 + "The end of the long reply."


@pytest.fixture
def ids(run: CommandLine) -> dict[str, str]:
    """Five turns in a row, the middle one long, the first of several lines."""
    fill(run.home, run.folder)
    texts = {"first": "how are dates\nwritten?", "second": "x" * 500, "long": LONG, "fourth": "thanks", "fifth": "bye"}
    found = {}
    with Memory(run.home.root) as memory:
        for number, (name, text) in enumerate(texts.items()):
            role = ("user", "assistant")[number % 2]
            found[name] = memory.record(
                agent="claude-code", session="dates", role=role, text=text, at=at(5, number + 1), project=str(run.folder)
            )
        memory.settle()
    return found


def test_a_line_of_a_block_leads_to_an_excerpt_and_that_to_everything(run: CommandLine, ids: dict[str, str]) -> None:
    told = run("context", "how does the exporter write the year").out
    short = next(each for each in re.findall(r"^\[(e_[0-9a-f]+)\]", told, re.MULTILINE) if ids["long"].startswith(each))
    excerpt, full = run("show", short), run("show", short, "--full")
    assert LONG not in told and LONG not in excerpt.out and LONG in full.out
    assert "The exporter writes day, month, year." in excerpt.out and "The end of the long reply." not in excerpt.out
    hidden = re.fullmatch(r"(\d+) more letters; --full shows all\n", excerpt.err)
    assert hidden is not None and 0 < len(LONG) - int(hidden[1]) <= 2000
    assert full.err == ""


def test_the_turns_beside_one_are_shown_in_part_and_with_full_in_whole(run: CommandLine, ids: dict[str, str]) -> None:
    lines = run("show", ids["long"]).out.splitlines()
    assert [line for line in lines if line.startswith(("before", "after"))] == [
        f"before    {ids['first']}  user         how are dates written?",
        f"before    {ids['second']}  assistant    {'x' * 158}…",
        f"after     {ids['fourth']}  assistant    thanks",
        f"after     {ids['fifth']}  user         bye",
    ]
    full = run("show", ids["long"], "--full").out
    assert "x" * 500 in full and "how are dates\nwritten?" in full


def test_a_program_gets_the_same_in_parts(run: CommandLine, ids: dict[str, str]) -> None:
    part, full = run.one("show", ids["long"]), run.one("show", ids["long"], "--full")
    assert full["text"] == LONG and LONG.startswith(part["text"]) and len(part["text"]) <= 2000
    assert part["chars"] == full["chars"] == len(LONG)
    assert [(each["id"], each["chars"], len(each["text"])) for each in part["before"]] == [
        (ids["first"], 22, 22), (ids["second"], 500, 160),
    ]  # fmt: skip
    assert [(each["id"], each["role"], each["text"]) for each in full["after"]] == [
        (ids["fourth"], "assistant", "thanks"), (ids["fifth"], "user", "bye"),
    ]  # fmt: skip
    assert len(full["before"][1]["text"]) == 500
    assert {**part, "text": "", "before": [], "after": []} == {**full, "text": "", "before": [], "after": []}


def test_a_short_text_is_whole_at_once(run: CommandLine, ids: dict[str, str]) -> None:
    ran = run("show", ids["second"])
    assert "x" * 500 in ran.out and ran.err == ""
    assert run.one("show", ids["fifth"])["after"] == []


def test_a_long_memory_is_shown_in_part(run: CommandLine, ids: dict[str, str]) -> None:
    kept = run.one("remember", LONG)["id"]
    assert run("show", kept).err.endswith("more letters; --full shows all\n")
    assert LONG in run("show", kept, "--full").out and run.one("show", kept, "--full")["text"] == LONG
    assert run.one("show", kept)["chars"] == len(LONG)


@pytest.mark.parametrize("command", [["forget", "--dry-run"], ["show"]])
def test_every_command_takes_the_beginning_of_an_id(run: CommandLine, ids: dict[str, str], command: list[str]) -> None:
    assert run(command[0], ids["long"][:14], *command[1:]).code == 0


def test_a_memory_is_corrected_and_pinned_by_the_beginning_of_its_id(run: CommandLine, ids: dict[str, str]) -> None:
    kept = run.one("remember", "deploys on Monday")["id"]
    assert run("pin", kept[:10]).code == 0
    assert run("correct", kept[:10], "deploys on Tuesday").code == 0
    assert run.one("show", kept[:10])["superseded_by"].startswith("m_")
