"""Compiling a wiki: what is written, what is left alone, and what becomes of what people do to the files."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.wiki import draft, lint, render
from hindbrain.wiki.compile import Compiled, Options
from hindbrain.wiki.draft import RENDER, How
from hindbrain.wiki.edits import Act
from hindbrain.wiki.folder import CompileRunning, Folder
from hindbrain.wiki.page import Material, Page
from tests.wiki.compiling import GIT, Ledger, Wiki

REDIS = "concepts/redis.md"
DAY = "daily/2026-03-02.md"
EVERY = ["concepts/deploy.md", "concepts/postgresql.md", REDIS, DAY, "index.md", "log.md", "projects/api-server.md"]


@pytest.fixture
def wiki(tmp_path: Path) -> Wiki:
    return Wiki(tmp_path / "wiki")


def did(compiled: Compiled) -> tuple[list[str], list[str], int, list[str]]:
    return sorted(compiled.written), sorted(compiled.removed), compiled.unchanged, [act.op for act in compiled.acts]


NOTHING: tuple[list[str], list[str], int, list[str]] = ([], [], 5, [])


def test_everything_is_written_once_and_then_nothing(wiki: Wiki) -> None:
    assert did(wiki.compile()) == (EVERY, [], 0, [])
    before = {path: os.stat(wiki.folder.root / path).st_mtime_ns for path in EVERY}
    assert wiki.folder.files() == EVERY
    assert did(wiki.compile()) == NOTHING
    wiki.before = None
    assert did(wiki.compile()) == NOTHING
    assert {path: os.stat(wiki.folder.root / path).st_mtime_ns for path in EVERY} == before


def test_one_new_statement_changes_the_pages_it_stands_on_and_the_lists(wiki: Wiki) -> None:
    wiki.compile()
    wiki.ledger.say("Redis runs in Docker.")
    touched = [REDIS, DAY, "index.md", "log.md", "projects/api-server.md"]
    assert did(wiki.compile()) == (touched, [], 2, [])
    assert "- Redis runs in Docker. ^m-" in wiki.read(REDIS)


def test_the_outcome_does_not_depend_on_the_way_there(wiki: Wiki, tmp_path: Path) -> None:
    """Compiled after every change, with and without what was worked out before, and at once."""
    chance = random.Random(7)
    pairs = [chance.sample(["Redis", "Kafka", "nginx", "uv"], 2) for _ in range(40)]
    texts = [f"{a} asks {b} for `value {number}`." for number, (a, b) in enumerate(pairs)]
    wiki.ledger = Ledger(())
    for number, text in enumerate(texts):
        wiki.ledger.say(text)
        if number % 3 == 0:
            wiki.compile()
        if number % 9 == 0:
            wiki.before = None
        if number % 11 == 5:
            del wiki.ledger.facts[chance.choice([*wiki.ledger.facts])]
    wiki.compile()
    once = Wiki(tmp_path / "once", ledger=wiki.ledger)
    once.compile()
    assert wiki.pages() == once.pages()
    assert did(wiki.compile(Options(all=True)))[0] == []


def test_what_is_forgotten_leaves_the_pages_and_pages_without_statements_go(wiki: Wiki) -> None:
    wiki.compile()
    for key in [key for key, fact in wiki.ledger.facts.items() if "Redis" in fact.text]:
        del wiki.ledger.facts[key]
    made = wiki.compile()
    assert sorted(made.removed) == ["concepts/deploy.md", REDIS]
    assert not [path for path, text in wiki.texts().items() if "Redis" in text]
    assert did(wiki.compile()) == ([], [], 3, [])


def test_words_of_a_person_outlive_the_statements_of_their_page(wiki: Wiki) -> None:
    wiki.compile()
    wiki.write(REDIS, wiki.read(REDIS) + "\nAsk Mia before you touch this.\n")
    wiki.compile()
    wiki.ledger.facts.clear()
    made = wiki.compile()
    assert REDIS not in made.removed
    assert "Ask Mia before you touch this." in wiki.read(REDIS) and "^m-" not in wiki.read(REDIS)
    assert did(wiki.compile())[:2] == ([], [])


def test_an_edit_becomes_an_act_and_the_page_says_what_the_person_said(wiki: Wiki) -> None:
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    made = wiki.compile()
    assert [(act.op, act.text) for act in made.acts] == [("edit", "Redis is never emptied.")]
    assert "- Redis is never emptied. ^m-000000000000000000000005" in wiki.read(REDIS)
    assert "- Redis is never emptied. ^m-000000000000000000000005" in wiki.read("projects/api-server.md")
    assert did(wiki.compile())[0] == [] and len(wiki.ledger.acts) == 1


def test_a_new_line_a_deleted_line_and_a_rename_are_taken_in_at_once(wiki: Wiki) -> None:
    wiki.compile()
    line = "- Redis holds the sessions of api-server. ^m-000000000000000000000004\n"
    text = wiki.read(REDIS).replace(line, "- Redis needs TLS.\n")
    (wiki.folder.root / REDIS).unlink()
    wiki.write("concepts/cache.md", text)
    made = wiki.compile()
    assert sorted(act.op for act in made.acts) == ["reject", "remember"]
    assert REDIS not in wiki.texts() and "- Redis needs TLS. ^m-" in wiki.read("concepts/cache.md")
    assert "[[concepts/cache|Redis]]" in wiki.read("index.md") and "concepts/redis" not in wiki.read("index.md")
    assert "[[concepts/cache|Redis]]" in wiki.read("projects/api-server.md")
    wiki.ledger.say("Redis runs in Docker.")
    assert "concepts/cache.md" in wiki.compile().written
    assert REDIS not in wiki.texts()


def test_a_deleted_page_stays_away_until_it_is_asked_for(wiki: Wiki) -> None:
    wiki.compile()
    (wiki.folder.root / REDIS).unlink()
    wiki.compile()
    wiki.ledger.say("Redis runs in Docker.")
    wiki.compile(Options(all=True))
    assert REDIS not in wiki.texts() and not [path for path, text in wiki.texts().items() if "[[concepts/redis" in text]
    assert len(wiki.ledger.facts) == 7
    with wiki.state() as state:
        state.restore("Redis")
    assert REDIS in wiki.compile().written
    assert "Redis runs in Docker." in wiki.read(REDIS) and "[[concepts/redis|Redis]]" in wiki.read("index.md")


def test_a_file_of_somebody_elses_keeps_its_place_for_ever(wiki: Wiki) -> None:
    for path in (REDIS, "notes/mine.md", "index.md"):
        wiki.write(path, f"# My own {path}\n\n- Redis is blue.\n")
    before = wiki.texts()
    wiki.compile()
    wiki.ledger.say("Redis runs in Docker.")
    made = wiki.compile()
    assert wiki.ledger.acts == []
    assert {path: wiki.read(path) for path in before} == before
    (ours,) = [path for path in wiki.folder.files() if path.startswith("concepts/redis-")]
    assert ours in made.written and f"[[{ours.removesuffix('.md')}|Redis]]" in wiki.read("projects/api-server.md")
    assert did(wiki.compile())[0] == []


def test_a_page_that_is_a_link_or_half_saved_waits_and_is_told(wiki: Wiki, tmp_path: Path) -> None:
    wiki.compile()
    (tmp_path / "elsewhere.md").write_text("secret")
    (wiki.folder.root / REDIS).unlink()
    (wiki.folder.root / REDIS).symlink_to(tmp_path / "elsewhere.md")
    wiki.write("concepts/postgresql.md", wiki.read("concepts/postgresql.md").split("title:")[0])
    half = wiki.read("concepts/postgresql.md")
    wiki.ledger.say("Redis runs with PostgreSQL in Docker.")
    made = wiki.compile()
    assert sorted(made.waiting) == ["concepts/postgresql.md", REDIS] and made.acts == ()
    assert wiki.read("concepts/postgresql.md") == half
    assert (wiki.folder.root / REDIS).is_symlink() and (tmp_path / "elsewhere.md").read_text() == "secret"


def test_what_is_saved_between_the_look_and_the_write_is_not_lost(wiki: Wiki) -> None:
    """A person saves while acts are applied, after the files were looked at."""
    wiki.compile()
    wiki.edit("concepts/postgresql.md", "PostgreSQL backups run at night", "PostgreSQL backups run at noon")
    apply = wiki.ledger.apply

    def meanwhile(acts: Sequence[Act]) -> None:
        apply(acts)
        wiki.ledger.say("Redis runs in Docker.")
        wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")

    wiki.ledger.apply = meanwhile  # type: ignore[method-assign]
    made = wiki.compile()
    assert made.waiting == {REDIS: "it was changed while the wiki was compiled"}
    assert "Redis is never emptied." in wiki.read(REDIS) and REDIS not in made.written
    wiki.ledger.apply = apply  # type: ignore[method-assign]
    wiki.compile()
    assert "Redis is never emptied." in wiki.read(REDIS) and "Redis runs in Docker." in wiki.read(REDIS)
    said = [act.text for act in wiki.ledger.acts]
    assert said == ["PostgreSQL backups run at noon with pgBackRest.", "Redis is never emptied."]


def test_acts_that_cannot_be_kept_leave_everything_as_it_is_for_the_next_time(wiki: Wiki) -> None:
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    before = wiki.texts()
    apply = wiki.ledger.apply

    def full(acts: Sequence[Act]) -> None:
        raise HindbrainError("the disk is full")

    wiki.ledger.apply = full  # type: ignore[method-assign]
    with pytest.raises(HindbrainError, match="full"):
        wiki.compile()
    assert wiki.texts() == before
    wiki.ledger.apply = apply  # type: ignore[method-assign]
    assert [act.text for act in wiki.compile().acts] == ["Redis is never emptied."]


def test_a_dry_run_shows_and_touches_nothing(wiki: Wiki) -> None:
    shown = wiki.compile(Options(dry_run=True))
    assert not wiki.folder.root.exists() and "+++ b/concepts/redis.md" in shown.diff and "--- /dev/null" in shown.diff
    wiki.compile()
    wiki.edit("concepts/postgresql.md", "at night", "at noon")
    wiki.ledger.say("Redis runs in Docker.")
    before = wiki.texts()
    shown = wiki.compile(Options(dry_run=True))
    assert [act.op for act in shown.acts] == ["edit"] and wiki.ledger.acts == [] and wiki.texts() == before
    changed = [line for line in shown.diff.splitlines() if line.startswith(("+- Redis", "-- Redis", "+++"))]
    assert changed[:2] == [f"+++ b/{REDIS}", "+- Redis runs in Docker. ^m-000000000000000000000007"]
    assert "noon" not in shown.diff and "night" not in shown.diff


def test_one_page_alone_is_compiled_by_any_of_its_names(wiki: Wiki) -> None:
    assert did(wiki.compile(Options(page="redis")))[0] == ["concepts/redis.md", "index.md", "log.md"]
    assert "postgresql" not in wiki.read("index.md")
    wiki.compile()
    wiki.ledger.say("Redis runs in Docker.")
    assert sorted(wiki.compile(Options(page="concepts/redis")).written) == [REDIS, "index.md", "log.md"]
    assert "projects/api-server.md" in wiki.compile().written
    with pytest.raises(NotFound):
        wiki.compile(Options(page="../etc/passwd"))


def test_edits_can_be_taken_in_without_writing_a_page(wiki: Wiki) -> None:
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    before = wiki.texts()
    assert did(wiki.compile(Options(edits_only=True))) == ([], [], 0, ["edit"])
    assert wiki.texts() == before
    assert did(wiki.compile())[3] == [] and "Redis is never emptied." in wiki.read("projects/api-server.md")


def test_two_at_once_are_one_and_a_message(wiki: Wiki) -> None:
    wiki.compile()
    with wiki.folder.locked(), pytest.raises(CompileRunning):
        wiki.compile()


def test_pages_can_be_added_and_their_links_are_followed(wiki: Wiki) -> None:
    def more(pages: object, material: Material) -> dict[str, Page]:
        assert isinstance(pages, dict)
        answer = Page("q-1", "qa", "qa/why.md", "Why?", body="Because.", related=tuple(pages)[:1])
        return {**pages, "q-1": answer}

    made = wiki.compile(Options(how=How(arrange=more)))
    assert "qa/why.md" in made.written and "[[qa/why|Why?]]" in wiki.read("index.md")
    assert wiki.compile().removed == ("qa/why.md",)


def test_the_compiled_wiki_has_no_broken_links_and_the_log_none_to_pages_that_are_gone(wiki: Wiki) -> None:
    wiki.compile()
    for key in [key for key, fact in wiki.ledger.facts.items() if "Redis" in fact.text]:
        del wiki.ledger.facts[key]
    wiki.compile()
    assert [each for each in lint.findings(wiki.texts()) if each.severity == "error"] == []


@pytest.mark.parametrize("git", [None, GIT], ids=["kept", "git"])
def test_a_lost_state_is_made_again_from_the_pages(tmp_path: Path, git: Path | None) -> None:
    wiki = Wiki(tmp_path / "wiki", git=git)
    wiki.compile()
    wiki.edit(REDIS, "title: Redis", "title: The cache\nowner: Mia")
    wiki.write(REDIS, wiki.read(REDIS) + "\nAsk Mia.\n")
    (wiki.folder.root / REDIS).rename(wiki.folder.root / "concepts/cache.md")
    wiki.age("concepts/cache.md")
    wiki.compile()
    before = wiki.pages()
    for path in wiki.folder.own.glob("state.db*"):
        path.unlink()
    made = wiki.compile()
    assert made.acts == () and wiki.pages() == before
    assert "Ask Mia." in before["concepts/cache.md"] and "owner: Mia" in before["concepts/cache.md"]


def test_an_edit_made_before_the_state_was_lost_is_still_an_edit_where_git_knows_better(tmp_path: Path) -> None:
    wiki = Wiki(tmp_path / "wiki", git=GIT)
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    for path in wiki.folder.own.glob("state.db*"):
        path.unlink()
    assert [act.text for act in wiki.compile().acts] == ["Redis is never emptied."]


def test_hostile_words_stay_words_and_inside_the_folder(wiki: Wiki, tmp_path: Path) -> None:
    wiki.ledger = Ledger(())
    for words in ("../../etc/passwd", "`CON`", "[[x]] ^m-12", "---\nid: c-1\n---", "\ud800 half", "<script>", "a" * 5000):
        wiki.ledger.say(f"`{words}` is a thing of Redis.")
        wiki.ledger.say(f"Redis keeps `{words}` and {words}.")
    wiki.compile()
    assert wiki.compile(Options(all=True)).written == ()
    assert wiki.compile().acts == ()
    assert [path.name for path in tmp_path.iterdir()] == ["wiki"]


def test_an_unchanged_page_is_not_rendered(wiki: Wiki, monkeypatch: pytest.MonkeyPatch) -> None:
    wiki.compile()
    rendered: list[str] = []
    real = render.rendered

    def counted(page: Page, *rest: object, **more: object) -> str:
        rendered.append(page.id)
        return real(page, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(draft, "rendered", counted)
    wiki.compile()
    assert sorted(rendered) == ["index", "log"]


def test_the_number_of_the_rendering_goes_up_with_every_change_of_it(wiki: Wiki) -> None:
    """When this fails because pages look different now: raise draft.RENDER, and put the new print here."""
    wiki.compile()
    prints = {path: lint.fingerprint(wiki.read(path))[:12] for path in (REDIS, DAY)}
    assert (RENDER, prints) == (1, {REDIS: "c7a4816c0d10", DAY: "e0e334126cc5"})


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    wiki = Wiki(tmp_path / "file" / "wiki")
    with pytest.raises(HindbrainError):
        wiki.compile()
    wiki.folder = replace(wiki.folder, root=tmp_path / "wiki")
    Folder(tmp_path / "wiki").prepare()
    (tmp_path / "wiki" / ".hindbrain" / "lock").mkdir()
    with pytest.raises(HindbrainError):
        wiki.compile()


def test_a_conflict_is_shown_and_known_until_a_person_deletes_what_tells_of_it(wiki: Wiki) -> None:
    """One statement stands on two pages, and is changed differently on each."""
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    wiki.edit("projects/api-server.md", "Redis is emptied on every deploy.", "Redis is emptied at night.")
    made = wiki.compile()
    (conflict,) = made.conflicts
    assert conflict.memory == "m_000000000000000000000005" and conflict.block in wiki.read(conflict.page)
    said = {"Redis is never emptied.", "Redis is emptied at night."}
    assert {conflict.found} | {act.text for act in made.acts if act.op == "edit"} == said
    again = wiki.compile()
    assert did(again)[0] == [] and again.conflicts == (conflict,)
    wiki.edit(conflict.page, conflict.block, "")
    assert wiki.compile().conflicts == () and "[!conflict]" not in wiki.read(conflict.page)
