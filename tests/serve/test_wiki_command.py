"""`hindbrain wiki` from end to end: compiled, edited by a person, compiled again, and memory says what the person wrote."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.ledger.store import Ledger
from hindbrain.serve.wiki_watch import seen, watching
from hindbrain.serve.wikis import Wiki, zone_of
from hindbrain.wiki.folder import Folder
from tests.serve.commands import CommandLine, Ran
from tests.serve.wiki_home import SAID, Person, compiled

REDIS = "concepts/redis.md"
SHOP = "projects/shop.md"


@pytest.fixture
def person(run: CommandLine) -> Person:
    return compiled(run)


def test_a_compile_writes_pages_whose_links_all_lead_somewhere_and_a_second_one_writes_nothing(person: Person) -> None:
    assert {REDIS, SHOP, "index.md", "log.md"} <= {str(path.relative_to(person.root)) for path in person.root.rglob("*.md")}
    assert person.errors() == []
    before = {path: path.read_bytes() for path in person.root.rglob("*.md")}
    done = person.run.one("wiki", "compile")
    assert (done["written"], done["removed"], done["edits"], done["version"]) == ([], [], [], None)
    assert {path: path.read_bytes() for path in person.root.rglob("*.md")} == before
    assert person.run.one("wiki", "compile", "--all")["written"] == []


def test_without_a_wiki_commands_say_how_to_make_one(run: CommandLine) -> None:
    hint = "hint: make one with `hindbrain wiki compile`\n"
    for words in (("status",), ("sync",), ("search", "x"), ("open",), ("export",), ("lint",), ("log",), ("diff",), ("undo",)):
        ran = run("wiki", *words)
        assert (ran.code, ran.out, ran.err) == (6, "", f"error: there is no wiki in {run.home.wiki}\n{hint}"), words
    assert not run.home.wiki.exists()


def test_a_compile_of_nothing_is_a_wiki_that_says_so(run: CommandLine) -> None:
    assert run("wiki", "compile").code == 0
    assert "Nothing is known yet." in (run.home.wiki / "index.md").read_text()


def test_a_dry_run_shows_the_difference_and_writes_nothing(run: CommandLine) -> None:
    run.one("remember", "Redis runs in staging")
    ran = run("wiki", "compile", "--dry-run")
    assert ran.code == 0 and "+- Redis runs in staging" in ran.out and "would be written" in ran.err
    assert not run.home.wiki.exists()


def test_words_that_are_changed_become_the_memory_and_the_old_ones_its_history(person: Person) -> None:
    person.edit(REDIS, lambda text: text.replace("30 minutes", "45 minutes"))
    (edit,) = person.run.one("wiki", "status")["edits"]
    assert (edit["op"], edit["memory"], edit["text"]) == ("edit", person.ids["cache"], "Redis keys expire after 45 minutes")
    done = person.run.one("wiki", "compile")
    assert [each["op"] for each in done["edits"]] == ["edit"]
    standing = person.stands()
    assert person.ids["cache"] not in standing and "Redis keys expire after 45 minutes" in standing.values()
    assert person.line(SHOP, "45 minutes") == "- Redis keys expire after 45 minutes"
    assert person.line(SHOP, "30 minutes").startswith("- ~~Redis keys expire after 30 minutes~~ (")
    (new,) = [key for key, text in standing.items() if "45" in text]
    assert f"written into {REDIS} of the wiki; journal " in person.run("show", new, "--why").out
    assert person.run.one("wiki", "compile")["written"] == [] and person.errors() == []


def test_a_line_that_is_deleted_is_a_memory_that_is_rejected(person: Person) -> None:
    person.delete_line(SHOP, "Never push to main")
    assert [each["op"] for each in person.run.one("wiki", "compile")["edits"]] == ["reject"]
    assert person.ids["rule"] not in person.stands()
    assert not any("Never push" in path.read_text() for path in person.root.rglob("*.md"))


def test_a_line_that_is_added_is_a_memory_of_its_sections_kind_and_its_pages_project(person: Person) -> None:
    person.edit(SHOP, lambda text: text.replace("## Tasks\n\n", "## Tasks\n\n- [ ] Write the changelog\n"))
    (edit,) = person.run.one("wiki", "compile")["edits"]
    assert (edit["op"], edit["kind"], edit["text"]) == ("remember", "task", "Write the changelog")
    assert person.line(SHOP, "changelog") == "- [ ] Write the changelog"
    (key,) = [key for key, text in person.stands().items() if text == "Write the changelog"]
    shown = person.run.one("show", key)
    assert (shown["memory_kind"], shown["trust"]) == ("task", "human_file")


def test_a_box_that_is_checked_ends_the_task_and_unchecked_opens_it_again(person: Person) -> None:
    person.edit(SHOP, lambda text: text.replace("- [ ] Rotate", "- [x] Rotate"))
    assert [each["op"] for each in person.run.one("wiki", "compile")["edits"]] == ["done"]
    assert person.ids["task"] not in person.stands()
    assert person.line(REDIS, "Rotate").startswith("- [x] Rotate the keys of the Redis replica (")
    person.edit(REDIS, lambda text: text.replace("- [x] Rotate", "- [ ] Rotate"))
    assert [each["op"] for each in person.run.one("wiki", "compile")["edits"]] == ["undone"]
    assert person.ids["task"] in person.stands()
    assert person.line(SHOP, "Rotate") == "- [ ] Rotate the keys of the Redis replica"


def test_tags_and_notes_stay_and_a_renamed_page_keeps_its_place_with_all_links_to_it(person: Person) -> None:
    person.edit(REDIS, lambda text: text.replace("tags: [database]", "tags: [database, cache]") + "\nMy own words.\n")
    (person.root / REDIS).rename(person.root / "concepts/in-memory-store.md")
    assert person.run("wiki", "compile").code == 0
    found = person.text("concepts/in-memory-store.md")
    assert "tags: [database, cache]" in found and "## Notes\n\nMy own words.\n" in found
    assert not (person.root / REDIS).exists() and "[[concepts/in-memory-store|Redis]]" in person.text(SHOP)
    person.run.one("remember", "Redis 7 runs in staging")
    assert person.run("wiki", "compile").code == 0
    assert "My own words." in person.text("concepts/in-memory-store.md") and person.errors() == []


def test_sync_takes_in_what_people_did_and_writes_no_page(person: Person) -> None:
    person.delete_line(SHOP, "Never push to main")
    before = {path: path.read_bytes() for path in person.root.rglob("*.md")}
    assert [each["op"] for each in person.run.one("wiki", "sync")["edits"]] == ["reject"]
    assert {path: path.read_bytes() for path in person.root.rglob("*.md")} == before
    assert person.ids["rule"] not in person.stands()


def test_undo_takes_the_last_compile_back_in_the_pages_and_in_memory(person: Person) -> None:
    before = sorted(person.stands().values())
    person.edit(REDIS, lambda text: text.replace("30 minutes", "45 minutes"))
    changed = person.run.one("wiki", "compile")
    assert "+- Redis keys expire after 45 minutes" in person.run("wiki", "diff").out
    undone = person.run.one("wiki", "undo")
    assert undone["undone"] == changed["version"] and REDIS in undone["restored"]
    assert sorted(person.stands().values()) == before
    assert "- Redis keys expire after 30 minutes ^" in person.text(REDIS) and "45 minutes" not in person.text(SHOP)
    assert len(person.run.one("wiki", "log")) == 3


def test_undo_of_a_rename_puts_the_page_back_where_it_was(person: Person) -> None:
    person.edit(REDIS, lambda text: text + "\nMy own words.\n")
    assert person.run("wiki", "compile").code == 0
    (person.root / REDIS).rename(person.root / "concepts/store.md")
    assert person.run("wiki", "compile").code == 0 and "[[concepts/store|Redis]]" in person.text(SHOP)
    undone = person.run.one("wiki", "undo")
    assert (undone["left"], undone["waiting"], sorted(undone["restored"])) == ([], {}, [REDIS, "concepts/store.md", SHOP])
    assert not (person.root / "concepts/store.md").exists() and "My own words." in person.text(REDIS)
    assert "[[concepts/redis|Redis]]" in person.text(SHOP) and person.errors() == []
    assert len(person.stands()) == len(SAID)


def test_there_is_nothing_before_the_first_version(person: Person) -> None:
    ran = person.run("wiki", "undo")
    assert ran.code == 2 and ran.err.startswith("error: there is nothing before the first version\n")
    assert (person.root / REDIS).exists()


def test_without_git_versions_are_kept_and_taken_back_all_the_same(
    run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    person = compiled(run)
    person.delete_line(SHOP, "Never push to main")
    assert run("wiki", "compile").code == 0 and not (person.root / ".git").exists()
    assert "-- Never push to main" in run("wiki", "diff").out
    assert run("wiki", "undo").code == 0
    assert person.ids["rule"] in person.stands()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_around_the_home_is_not_touched(run: CommandLine) -> None:
    outer = run.home.root.parent
    subprocess.run(["git", "init", "-q", str(outer)], check=True)
    before = sorted(path.name for path in (outer / ".git").rglob("*"))
    compiled(run)
    assert sorted(path.name for path in (outer / ".git").rglob("*")) == before


def test_the_page_meant_is_found_by_path_title_alias_link_or_id(person: Person) -> None:
    (page,) = [line for line in person.text(REDIS).splitlines() if line.startswith("id: ")]
    for name in ("redis", "Redis", REDIS, "concepts/redis", "[[concepts/redis|Redis]]", page.removeprefix("id: ")):
        assert person.run("wiki", "open", name) == Ran(0, f"{person.root / REDIS}\n", ""), name
    assert person.run("wiki", "open").out == f"{person.root / 'index.md'}\n"
    ran = person.run("wiki", "open", "Rediss")
    assert (ran.code, ran.err) == (6, "error: there is no page 'Rediss'\nhint: did you mean Redis?\n")
    assert person.run("wiki", "open", "../../etc/passwd").code == 6


def test_search_finds_pages_and_lines_with_their_memories(person: Person) -> None:
    (first, *_) = person.run.one("wiki", "search", "redis", "expire")
    assert (first["path"], first["lines"][0]["memory"]) == (REDIS, person.ids["cache"])
    assert f"[{person.ids['cache']}]" in person.run("wiki", "search", "expire").out
    assert person.run("wiki", "search", "zebra") == Ran(0, "", "no page speaks of that\n")
    assert person.run("wiki", "search", " ").code == 2


def test_export_writes_every_form_and_never_into_what_is_there(person: Person, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for form, name in (("html", "w.html"), ("json", "w.json"), ("markdown", "plain"), ("obsidian", "vault")):
        done = person.run.one("wiki", "export", "--format", form, str(out / name))
        assert done["format"] == form and done["target"] == str(out / name)
    html = (out / "w.html").read_text()
    assert "<title>Wiki</title>" in html and SAID["cache"][1] in html and "default-src 'none'" in html
    pages = json.loads((out / "w.json").read_text())["pages"]
    assert {page["path"] for page in pages} == {str(path.relative_to(person.root)) for path in person.root.rglob("*.md")}
    assert "[Redis](../concepts/redis.md)" in (out / "plain" / SHOP).read_text()
    assert (out / "vault" / REDIS).read_text() == person.text(REDIS) and (out / "vault/.obsidian/app.json").exists()
    ran = person.run("wiki", "export", "--format", "markdown", str(out / "vault"))
    assert ran.code == 2 and "is not empty" in ran.err
    assert person.run("wiki", "export", str(out)).code == 2


def test_lint_reports_errors_with_its_exit_code_and_fixes_what_needs_no_decision(person: Person) -> None:
    person.edit("index.md", lambda text: text.replace("- [[concepts/redis|Redis]]", "- nothing"))
    person.edit(REDIS, lambda text: text.replace("## Related\n\n", "## Related\n\n- [[nowhere]]\n"))
    ran = person.run("wiki", "lint")
    assert ran.code == 7 and "broken-link: no page is called 'nowhere'" in ran.out
    assert person.run("wiki", "lint", "--fix").code == 7
    assert "[[concepts/redis|Redis]]" in person.text("index.md")
    data = person.run("wiki", "lint", "--json").data
    assert data["errors"] == 1 and {each["code"] for each in data["findings"] if each["fix"]} == set()


def test_an_unknown_time_zone_is_told_and_days_are_those_of_utc(run: CommandLine) -> None:
    run.one("config", "set", "timezone", "Middle/Earth")
    ran = run("wiki", "compile")
    assert ran.code == 0
    assert ran.err.startswith("warning: the time zone 'Middle/Earth' is not known here; days and hours are told in UTC\n")
    assert zone_of("Europe/Madrid")[1] == "" and str(zone_of("Europe/Madrid")[0]) == "Europe/Madrid"
    assert run("config", "set", "timezone", "../../etc/passwd").code == 2


def test_the_day_a_session_belongs_to_is_that_of_the_time_zone(run: CommandLine) -> None:
    from datetime import UTC, datetime

    from hindbrain.serve.memory import Memory

    with Memory(run.home.root) as memory:
        memory.record(agent="claude-code", session="late", role="user", text="never push to main", project=str(run.folder),
                      at=datetime(2026, 11, 10, 23, 30, tzinfo=UTC))  # fmt: skip
        memory.settle()
    assert run("wiki", "compile").code == 0 and (run.home.wiki / "daily/2026-11-10.md").exists()
    run.one("config", "set", "timezone", "Europe/Madrid")
    assert run("wiki", "compile").code == 0
    page = (run.home.wiki / "daily/2026-11-11.md").read_text()
    assert "## 00:30 claude-code in shop" in page and not (run.home.wiki / "daily/2026-11-10.md").exists()


def test_a_wiki_in_a_repository_tells_of_its_project_alone(run: CommandLine, tmp_path: Path) -> None:
    compiled(run)
    run.one("remember", "Kafka carries the events of the other one", "--project", str(tmp_path / "other"))
    run.one("remember", "I prefer short answers", "--kind", "preference", "--global")
    done = run.one("wiki", "compile", "--into", "docs/wiki")
    root = run.folder / "docs/wiki"
    assert done["wiki"] == str(root) and not (root / ".git").exists() and (root / SHOP).exists()
    text = "\n".join(path.read_text() for path in root.rglob("*.md"))
    assert "Kafka" not in text and "short answers" not in text and SAID["cache"][1] in text
    assert run("wiki", "search", "expire", "--into", "docs/wiki").out.startswith(REDIS)
    page = root / SHOP
    page.write_text(page.read_text().replace("port 8085", "port 8086"))
    os.utime(page, (1_700_000_000, 1_700_000_000))
    assert [each["op"] for each in run.one("wiki", "compile", "--into", "docs/wiki")["edits"]] == ["edit"]
    assert run("wiki", "compile").code == 0 and "port 8086" in (run.home.wiki / SHOP).read_text()


def test_a_folder_of_a_project_nothing_is_stored_of_gets_no_wiki(run: CommandLine, tmp_path: Path) -> None:
    compiled(run)
    ran = run("wiki", "compile", "--into", str(tmp_path / "elsewhere/wiki"))
    assert ran.code == 6 and "nothing is stored of the project" in ran.err and not (tmp_path / "elsewhere/wiki/index.md").exists()
    assert run("wiki", "compile", "--into", "").code == 2


def test_an_answer_is_filed_as_a_page_and_asked_again_it_is_the_same_page(person: Person) -> None:
    found = person.run.one("ask", "when do Redis keys expire?", "--file-back")
    page = found["page"]
    assert page == "qa/when-do-redis-keys-expire.md" and "Redis keys expire after 30 minutes" in person.text(page)
    assert "[[qa/when-do-redis-keys-expire|when do Redis keys expire?]]" in person.text(REDIS) and person.errors() == []
    assert person.run.one("ask", "When do Redis keys expire", "--file-back")["page"] == page
    assert [path.name for path in (person.root / "qa").iterdir()] == ["when-do-redis-keys-expire.md"]
    ran = person.run("ask", "who is the king of Norway?", "--file-back")
    assert ran.code == 9 and "nothing is filed: there is no answer" in ran.err


def test_watching_compiles_when_a_file_was_saved(person: Person) -> None:
    wiki = Wiki.of(load(str(person.run.home.root)))
    compiles = watching(wiki, 0.01)
    person.edit(SHOP, lambda text: text.replace("port 8085", "port 8086"))
    assert [act.op for act in next(compiles).acts] == ["edit"]
    compiles.close()
    assert "The api listens on port 8086" in person.stands().values()
    assert seen(Folder(person.root)).keys() >= {SHOP, REDIS}


@pytest.mark.slow
def test_watch_ends_with_ctrl_c_and_has_taken_in_what_was_saved(person: Person) -> None:
    command = [sys.executable, "-m", "hindbrain", "--home", str(person.run.home.root), "wiki", "watch", "--every", "0.2"]
    person.edit(SHOP, lambda text: text.replace("port 8085", "port 8086"))
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as watch:
        assert watch.stderr is not None
        said = [watch.stderr.readline() for _ in range(2)]
        watch.send_signal(signal.SIGINT)
        watch.wait(30)
    assert watch.returncode == 130
    assert said[0].startswith("watching ") and said[1].startswith(f"taken in: {SHOP}: reworded ")
    assert "The api listens on port 8086" in person.stands().values()


def test_a_page_that_is_deleted_is_left_out_until_it_is_restored(person: Person) -> None:
    (person.root / REDIS).unlink()
    folder = person.root / "concepts"
    os.utime(folder, (1_700_000_000, 1_700_000_000))
    assert person.run("wiki", "compile").code == 0
    assert person.run.one("wiki", "status")["deleted"] == [REDIS] and person.errors() == []
    assert "[[concepts/redis" not in person.text(SHOP) and person.ids["cache"] in person.stands()
    assert person.run.one("wiki", "restore", "concepts/redis") == {"page": REDIS}
    assert "[[concepts/redis|Redis]]" in person.text(SHOP) and person.text(REDIS).startswith("---\n")


def test_a_second_compile_at_the_same_time_is_told_so(person: Person) -> None:
    with Folder(person.root).locked():
        ran = person.run("wiki", "compile")
    assert ran.code == 4 and "is at work on the wiki" in ran.err


def test_what_is_forgotten_is_in_no_file_of_the_wiki_and_its_history_begins_anew(person: Person) -> None:
    word = "Zanzibar"
    memory = person.run.one("remember", f"Redis is hosted in {word}")["id"]
    person.run.one("ask", f"is Redis hosted in {word}?", "--file-back")
    assert any(word in path.read_text("utf-8") for path in (person.root / "qa").iterdir())
    person.edit(REDIS, lambda text: text + "\nMy own words.\n")
    assert person.run("wiki", "compile").code == 0
    assert person.run("forget", memory, "--yes").code == 0
    held = [path for path in person.run.home.root.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]
    assert held == [] and not (person.root / ".hindbrain/forgetting").exists()
    assert len(person.run.one("wiki", "log")) == 1 and "My own words." in person.text(REDIS) and person.errors() == []
    assert not [path for path in person.root.rglob("*") if word.lower() in path.name]


def test_a_wiki_that_is_being_compiled_forgets_with_the_next_compile(person: Person) -> None:
    memory = person.run.one("remember", "Redis is hosted in Zanzibar")["id"]
    assert person.run("wiki", "compile").code == 0 and "Zanzibar" in person.text(REDIS)
    with Folder(person.root).locked():
        ran = person.run("forget", memory, "--yes")
    assert ran.code == 0 and "warning: the pages of the wiki forget it with the next compile: " in ran.err
    assert person.run("wiki", "compile").code == 0
    assert not any(b"Zanzibar" in path.read_bytes() for path in person.root.rglob("*") if path.is_file())


def test_an_answer_survives_a_ledger_in_which_its_memory_is_not_there_yet(person: Person) -> None:
    page = person.run.one("ask", "when do Redis keys expire?", "--file-back")["page"]
    with Ledger.open(person.run.home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        database.execute("UPDATE memories SET held = 'rejected' WHERE id = ?", (person.ids["cache"],))
    assert person.run("wiki", "compile").code == 0
    assert "Answered on" in person.text(page) and "30 minutes ^m-" not in person.text(page)
