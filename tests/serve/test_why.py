"""Why a memory stands: link by link down to the turn and the line of the transcript, with who made it and what became of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound
from hindbrain.ledger import reasoned
from hindbrain.ledger.statement import Statement
from hindbrain.ledger.store import Ledger
from hindbrain.serve.commands import lineage
from hindbrain.serve.memory import Memory
from tests.serve.commands import CommandLine
from tests.serve.reasoned_home import Found, fill
from tests.serve.test_transcripts import line as transcript_line


@pytest.fixture
def found(run: CommandLine) -> Found:
    return fill(run.home, str(run.folder))


def rows(out: str) -> dict[str, str]:
    return {line[:9].rstrip(): line[10:] for line in out.split("\n\n")[0].splitlines()}


def test_a_memory_tells_who_made_it_how_often_it_was_said_and_what_it_replaced(run: CommandLine, found: Found) -> None:
    shown = rows(run("show", found.memories["new"], "--why").out)
    assert (shown["made by"], shown["seen"], shown["replaces"]) == ("rules, version 1", "2 times", found.memories["old"])
    assert (shown["quote"], shown["evidence"]) == ("orders moved to MySQL", found.turns["new"])


def test_what_was_replaced_tells_by_what_and_when(run: CommandLine, found: Found) -> None:
    shown = rows(run("show", found.memories["old"], "--why").out)
    assert shown["ended"].endswith(f", replaced by {found.memories['new']}") and "since 2026-11-" in shown["ended"]
    assert (shown["because"], shown["not"]) == ("jsonb", "SQLite")


def test_the_tree_goes_down_through_what_was_replaced_to_the_turns(run: CommandLine, found: Found) -> None:
    tree = run("show", found.memories["new"], "--why").out.split("\n\n")[2].splitlines()
    assert [re.sub(r"\].*", "", line) for line in tree if "journal" not in line] == [
        f"said in   [{found.turns['new']}", f"replaced  [{found.memories['old']}", f"    said in   [{found.turns['old']}",
    ]  # fmt: skip
    data = run.one("show", found.memories["new"], "--why")["lineage"]
    assert [each["id"] for each in data["turns"]] == [found.turns["new"]]
    (older,) = data["memories"]
    assert (older["link"], older["id"], [each["id"] for each in older["turns"]]) == (
        "supersedes", found.memories["old"], [found.turns["old"]],
    )  # fmt: skip


def test_an_insight_leads_through_its_observations_each_once(run: CommandLine, found: Found) -> None:
    supports = [found.memories["new"], found.memories["again"]]
    with Ledger.open(run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        (project,) = database.execute("SELECT project_id FROM sessions LIMIT 1").fetchone()
        made = reasoned.put_insight(database, "insight", "MySQL is what orders use", supports, "project", project, "rules/1", 9)
    out = run("show", made, "--why").out
    assert out.count("rests on  [") == 2 and out.count(" (see above)") == 1  # one of them confirms the other
    assert out.count(f"said in   [{found.turns['new']}]") == 1


def test_the_last_step_is_the_line_of_the_transcript(run: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "talk"
    folder.mkdir()
    path = folder / "s1.jsonl"
    first, second = transcript_line("user", "hello"), transcript_line("user", "always squash commits", prompt="p2")
    path.write_text(first + second)
    assert run("import", "claude-code", str(folder)).code == 0
    with Ledger.open(run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        turn, session = database.execute("SELECT id, session_id FROM turns WHERE text = 'always squash commits'").fetchone()
        wanted = Statement("instruction", "Always squash commits", (turn,), "always squash commits", 0.9, scope="global")
        reasoned.put(database, session, "model:openai:small/1", [wanted], 1)
    shown = run("show", wanted.id, "--why").out
    assert f"{path}:{len(first)}, bytes {len(first)} to {len(first) + len(second)}; still there" in shown
    assert "made by   the model openai:small, version 1" in shown
    source = run.one("show", wanted.id, "--why")["lineage"]["turns"][0]["source"]
    assert source == {"path": str(path), "start": len(first), "end": len(first) + len(second)}
    path.write_text("")
    assert f"bytes {len(first)} to {len(first) + len(second)}; the file has changed there" in run("show", wanted.id, "--why").out


def test_the_library_gives_the_same_tree(run: CommandLine, found: Found) -> None:
    with Memory(run.home.root) as memory:
        tree = memory.why(found.memories["new"])
        assert [each.turn_id for each in tree.turns] == [found.turns["new"]]
        with pytest.raises(NotFound, match="there is no memory m_nothing"):
            memory.why("m_nothing")


@pytest.mark.parametrize(
    ("made_by", "told"),
    [
        ("person", "a person"), ("rules/1", "rules, version 1"),
        ("model:anthropic:claude-haiku-4/1", "the model anthropic:claude-haiku-4, version 1"),
        ("model:openai:a/b/2", "the model openai:a/b, version 2"), ("", ""), ("odd", "odd"), ("/", "/"),
    ],
)  # fmt: skip
def test_the_maker_is_named_in_plain_words(made_by: str, told: str) -> None:
    assert lineage.maker(made_by) == told


def test_hostile_text_in_a_lineage_is_only_shown(run: CommandLine, found: Found) -> None:
    with Ledger.open(run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        database.execute("UPDATE turns SET text = ? WHERE id = ?", ("a\x1b[2J\nb \u202e", found.turns["new"]))
        database.execute("UPDATE memories SET made_by = ? WHERE id = ?", ("model:\x1b]0;x\x07/1", found.memories["old"]))
    for name in ("new", "old"):
        ran = run("show", found.memories[name], "--why")
        assert ran.code == 0 and ran.out.replace("\n", "").isprintable()
