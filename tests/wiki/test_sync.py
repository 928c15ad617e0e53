"""Files of a wiki after anyone had them: what is a person's, what is ours, what waits, and what is left alone."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.wiki.edits import Act, Conflict
from hindbrain.wiki.folder import Folder
from hindbrain.wiki.known import Made, Row, Taken
from hindbrain.wiki.render import Human
from hindbrain.wiki.state import State
from hindbrain.wiki.sync import Synced, changes

NOW = 1_772_500_000.0
LONG_AGO = NOW - 3_600


def page(page_id: str, title: str, *lines: str) -> str:
    points = "\n".join(f"- {line}" for line in lines)
    front = f"---\nid: {page_id}\ntitle: {title}\n---\n\n# {title}\n\n"
    return f"{front}## Key points\n\n{points}\n\n## Sources\n\n- 2026-03-02 me, session 1: `e_1` (m-aa)\n"


TEXTS = {
    "concepts/redis.md": page("c-00000001", "Redis", "Redis runs in eu-west-1. ^m-aa01", "It keeps 4 GB. ^m-aa02"),
    "concepts/backups.md": page("c-00000002", "Backups", "Backups run at night. ^m-aa03"),
    "connections/both.md": page("x-00000001", "Both", "Redis runs in eu-west-1. ^m-aa01", "Backups run at night. ^m-aa03"),
    "index.md": page("index", "Index"),
}
REDIS, BACKUPS, BOTH, INDEX = TEXTS
IDS = {REDIS: "c-00000001", BACKUPS: "c-00000002", BOTH: "x-00000001", INDEX: "index"}


class Wiki:
    """A wiki that was just compiled, an hour ago."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = Folder(root)
        self.folder.prepare()
        self.state = State.open(self.folder)
        self.number = 0
        for path, text in TEXTS.items():
            self.write(path, text)
        self.known(TEXTS)

    def known(self, texts: dict[str, str], *, finished: bool = True) -> None:
        """These texts were written, or were about to be."""
        self.number += 1
        made = Made(self.number, 1, "compile", "", tuple(IDS.values()), tuple(texts))
        self.state.begin([Row(IDS[path], "concept", "", path, pending=text) for path, text in texts.items()], made)
        if finished:
            self.state.finish(made, [], None)

    def write(self, path: str, text: str | bytes, at: float = LONG_AGO) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, (at, at))
        self.settle()

    def settle(self) -> None:
        """Whatever was done to folders was done long ago."""
        for folder, _, _ in os.walk(self.root):
            os.utime(folder, (LONG_AGO, LONG_AGO))

    def edit(self, path: str, old: str, new: str, at: float = LONG_AGO) -> None:
        assert old in TEXTS[path]
        self.write(path, (self.root / path).read_text().replace(old, new), at)

    def move(self, old: str, new: str) -> None:
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / old).rename(self.root / new)
        self.settle()

    def delete(self, *paths: str) -> None:
        for path in paths:
            (self.root / path).unlink()
        self.settle()

    def sync(self) -> Synced:
        fresh = {IDS[path]: text for path, text in TEXTS.items()}
        before = {path: path.read_bytes() for path in self.root.rglob("*.md") if path.is_file()}
        found = changes(self.folder, self.state, fresh.get, project={"c-00000001": "p_1"}.get, now=lambda: NOW)
        assert {path: path.read_bytes() for path in self.root.rglob("*.md") if path.is_file()} == before
        return found

    def done(self) -> list[tuple[str, str, str, str]]:
        return [(act.op, act.memory, act.text, act.page) for act in self.sync().acts]


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[Wiki]:
    made = Wiki(tmp_path / "wiki")
    yield made
    made.state.close()


def test_a_wiki_that_nobody_touched_says_nothing(wiki: Wiki) -> None:
    assert wiki.sync() == Synced()


def test_an_edit_is_an_act_with_the_page_it_was_made_on(wiki: Wiki) -> None:
    wiki.edit(REDIS, "4 GB", "8 GB")
    text = TEXTS[REDIS].replace("4 GB", "8 GB")
    assert wiki.sync() == Synced(acts=(Act("edit", "m_aa02", "It keeps 8 GB.", "", REDIS, "p_1"),), found={"c-00000001": text})


def test_an_edit_that_was_taken_is_not_found_again(wiki: Wiki) -> None:
    wiki.edit(REDIS, "4 GB", "8 GB")
    found = wiki.sync()
    wiki.state.take(Taken(found=found.found), 2)
    assert wiki.sync() == Synced()


def test_what_a_crash_left_written_is_ours(wiki: Wiki) -> None:
    text = TEXTS[REDIS].replace("4 GB", "8 GB")
    wiki.known({REDIS: text}, finished=False)
    assert wiki.sync() == Synced()  # not written yet
    wiki.write(REDIS, text, NOW)
    assert wiki.sync() == Synced(landed=("c-00000001",))


def test_settings_of_a_page_are_told_whole(wiki: Wiki) -> None:
    wiki.state.take(Taken(human={"c-00000001": Human(tags=("cache",))}), 2)
    wiki.edit(REDIS, "title: Redis", "title: Redis 7")
    assert wiki.sync().human == {"c-00000001": Human(title="Redis 7", tags=("cache",))}


def test_two_pages_that_say_two_things_of_one_memory_are_in_conflict(wiki: Wiki) -> None:
    wiki.edit(REDIS, "eu-west-1", "eu-west-2", LONG_AGO)
    wiki.edit(BOTH, "eu-west-1", "us-east-1", LONG_AGO + 60)
    found = wiki.sync()
    why = "it was changed on another page too"
    conflict = Conflict(REDIS, "m_aa01", "", "Redis runs in eu-west-2.", "Redis runs in us-east-1.", why)
    assert [(act.op, act.text, act.page) for act in found.acts] == [("edit", "Redis runs in us-east-1.", BOTH)]
    assert (found.conflicts, found.human) == ((conflict,), {"c-00000001": Human(notes=(conflict.block,))})


def test_a_line_that_was_moved_to_another_page_stays(wiki: Wiki) -> None:
    wiki.edit(REDIS, "- It keeps 4 GB. ^m-aa02\n", "")
    wiki.edit(BACKUPS, "- Backups", "- It keeps 4 GB. ^m-aa02\n- Backups")
    assert wiki.done() == []
    wiki.write(BACKUPS, TEXTS[BACKUPS].replace("- Backups", "- It keeps 9 GB. ^m-aa02\n- Backups"))
    assert wiki.done() == [("edit", "m_aa02", "It keeps 9 GB.", BACKUPS)]


def test_a_line_that_was_copied_and_changed_is_new(wiki: Wiki) -> None:
    wiki.edit(BACKUPS, "- Backups", "- It keeps 9 GB. ^m-aa02\n- Backups")
    assert wiki.done() == [("remember", "m_aa02", "It keeps 9 GB.", BACKUPS)]


# Names


def test_a_renamed_page_is_known_by_its_id(wiki: Wiki) -> None:
    wiki.move(REDIS, "concepts/cache.md")
    assert wiki.sync() == Synced(renamed={"c-00000001": "concepts/cache.md"})
    wiki.write("concepts/cache.md", TEXTS[REDIS].replace("4 GB", "8 GB"))
    found = wiki.sync()
    assert (found.renamed, found.removed) == ({"c-00000001": "concepts/cache.md"}, ())
    assert [(act.op, act.text, act.page) for act in found.acts] == [("edit", "It keeps 8 GB.", "concepts/cache.md")]


def test_two_pages_may_change_places(wiki: Wiki) -> None:
    wiki.move(REDIS, "concepts/x.md")
    wiki.move(BACKUPS, REDIS)
    wiki.move("concepts/x.md", BACKUPS)
    assert wiki.sync() == Synced(renamed={"c-00000001": BACKUPS, "c-00000002": REDIS})


def test_a_page_moved_over_another_takes_its_place(wiki: Wiki) -> None:
    wiki.move(REDIS, BACKUPS)
    assert wiki.sync() == Synced(renamed={"c-00000001": BACKUPS}, removed=("c-00000002",))


def test_a_copy_of_a_page_is_a_file_like_any_other(wiki: Wiki) -> None:
    wiki.write("concepts/redis copy.md", TEXTS[REDIS].replace("4 GB", "8 GB"))
    assert wiki.sync() == Synced(foreign=frozenset({"concepts/redis copy.md"}))


def test_a_page_without_front_matter_is_known_by_its_path(wiki: Wiki) -> None:
    wiki.write(REDIS, TEXTS[REDIS].partition("---\n\n")[2].replace("4 GB", "8 GB"))
    assert wiki.done() == [("edit", "m_aa02", "It keeps 8 GB.", REDIS)]


def test_a_deleted_page_is_left_out_and_none_of_its_memories_is_rejected(wiki: Wiki) -> None:
    wiki.delete(REDIS)
    assert wiki.sync() == Synced(removed=("c-00000001",))
    wiki.state.take(Taken(removed=("c-00000001",)), 2)
    assert wiki.sync() == Synced()


def test_a_deleted_page_that_is_put_back_is_there_again(wiki: Wiki) -> None:
    wiki.state.take(Taken(removed=("c-00000001",)), 2)
    found = wiki.sync()
    assert (found.returned, found.acts, found.conflicts, found.human) == (("c-00000001",), (), (), {})


def test_lists_that_were_deleted_are_made_anew(wiki: Wiki) -> None:
    wiki.delete(INDEX)
    assert wiki.sync() == Synced()


def test_all_pages_gone_at_once_is_no_wish_about_pages(wiki: Wiki) -> None:
    wiki.delete(*TEXTS)
    assert wiki.sync() == Synced()


def test_a_page_taken_out_of_the_folders_is_the_persons(wiki: Wiki) -> None:
    wiki.move(REDIS, "archive/old/redis.md")
    assert wiki.sync() == Synced(removed=("c-00000001",), foreign=frozenset({"archive/old/redis.md"}))


# What waits


def test_a_file_that_was_just_saved_waits(wiki: Wiki) -> None:
    for at in (NOW, NOW - 1.9, NOW + 1.9):
        wiki.edit(REDIS, "4 GB", "8 GB", at)
        assert wiki.sync() == Synced(waiting={"c-00000001": "it was changed a moment ago"})
    os.utime(wiki.root / REDIS, (NOW + 9_000, NOW + 9_000))  # a clock that is wrong does not hold it up for ever
    assert wiki.done() == [("edit", "m_aa02", "It keeps 8 GB.", REDIS)]


def test_a_file_that_is_gone_since_a_moment_waits(wiki: Wiki) -> None:
    wiki.delete(REDIS)
    os.utime(wiki.root / "concepts", (NOW - 1, NOW - 1))
    assert wiki.sync() == Synced(waiting={"c-00000001": "the file is gone since a moment ago"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file is empty; delete it to leave the page out"),
        (" \n\n", "the file is empty; delete it to leave the page out"),
        ("---\nid: c-00000001\ntit", "its front matter cannot be read"),
        ("---\nid: [\n---\n\n# Redis\n", "its front matter cannot be read"),
        (TEXTS[REDIS][:90], "it looks cut off; if that is meant, add an empty line at its end"),
        (TEXTS[REDIS][: TEXTS[REDIS].index("- It keeps")], "it looks cut off; if that is meant, add an empty line at its end"),
    ],
)  # fmt: skip
def test_a_half_saved_file_waits(wiki: Wiki, text: str, why: str) -> None:
    wiki.write(REDIS, text)
    assert wiki.sync() == Synced(waiting={"c-00000001": why})


def test_a_person_may_cut_a_page_off(wiki: Wiki) -> None:
    wiki.write(REDIS, TEXTS[REDIS][: TEXTS[REDIS].index("- It keeps")] + "\n\n\n")
    assert wiki.done() == [("reject", "m_aa02", "", REDIS)]


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"---\nid: c-00000001\n---\n\xc3\x28", "# Redis".encode("utf-16")])
def test_a_file_that_is_no_text_waits(wiki: Wiki, data: bytes) -> None:
    wiki.write(REDIS, data)
    found = wiki.sync()
    assert list(found.waiting) == ["c-00000001"]
    assert found == Synced(waiting=found.waiting)


def test_links_and_folders_in_the_place_of_pages_wait(wiki: Wiki, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(TEXTS[REDIS].replace("4 GB", "8 GB"))
    wiki.delete(REDIS, BACKUPS)
    (wiki.root / REDIS).symlink_to(outside)
    (wiki.root / BACKUPS).mkdir()
    wiki.settle()
    found = wiki.sync()
    assert sorted(found.waiting) == ["c-00000001", "c-00000002"]
    assert found == Synced(waiting=found.waiting)


def test_pages_behind_a_linked_folder_wait(wiki: Wiki, tmp_path: Path) -> None:
    (wiki.root / "concepts").rename(tmp_path / "elsewhere")
    (wiki.root / "concepts").symlink_to(tmp_path / "elsewhere")
    wiki.settle()
    found = wiki.sync()
    assert sorted(found.waiting) == ["c-00000001", "c-00000002"]
    assert found == Synced(waiting=found.waiting)


def test_a_pipe_in_the_place_of_a_page_is_not_opened(wiki: Wiki) -> None:
    wiki.delete(REDIS)
    os.mkfifo(wiki.root / REDIS)
    wiki.settle()
    assert list(wiki.sync().waiting) == ["c-00000001"]


# What is not ours


def test_files_of_others_are_left_alone(wiki: Wiki, tmp_path: Path) -> None:
    wiki.write("notes.md", "- A line.\n")
    wiki.write("concepts/Own.md", "---\nid: c-99999999\ntitle: Mine\n---\n\n- A line. ^m-aa01\n")
    wiki.write("concepts/bytes.md", b"\xff")
    wiki.write("concepts/.hidden.md", TEXTS[REDIS])
    wiki.write("concepts/redis.txt", TEXTS[REDIS])
    (tmp_path / "far.md").write_text(TEXTS[REDIS])
    (wiki.root / "concepts/far.md").symlink_to(tmp_path / "far.md")
    wiki.settle()
    assert wiki.sync() == Synced(foreign=frozenset({"notes.md", "concepts/own.md", "concepts/bytes.md"}))


def test_an_id_below_the_front_matter_is_only_words(wiki: Wiki) -> None:
    wiki.write("concepts/other.md", "---\ntitle: x\n---\n\nid: c-00000001\n")
    wiki.write("concepts/third.md", "---\ntitle: |\n  x\n\nid: c-00000001\n")
    wiki.delete(REDIS)
    assert wiki.sync() == Synced(removed=("c-00000001",), foreign=frozenset({"concepts/other.md", "concepts/third.md"}))


@pytest.mark.parametrize("done", [
    pytest.param(lambda wiki: None, id="nothing"),
    pytest.param(lambda wiki: wiki.edit(REDIS, "4 GB", "8 GB"), id="another text of the same length and time"),
    pytest.param(lambda wiki: wiki.write(REDIS, TEXTS[REDIS]), id="the same text again"),
    pytest.param(lambda wiki: wiki.delete(REDIS), id="deleted"),
    pytest.param(lambda wiki: wiki.move(REDIS, "concepts/cache.md"), id="renamed"),
    pytest.param(lambda wiki: wiki.write("concepts/copy.md", TEXTS[REDIS]), id="copied"),
    pytest.param(lambda wiki: wiki.write("concepts/REDIS.md", TEXTS[REDIS]), id="copied to the same name in capitals"),
    pytest.param(lambda wiki: wiki.write("concepts/REDIS.md", "Mine.\n"), id="a file of that name in capitals"),
    pytest.param(lambda wiki: wiki.write("concepts/REDIS.md", b"\xff"), id="no text of that name"),
    pytest.param(lambda wiki: (wiki.move(REDIS, "x.md"), wiki.move(BACKUPS, REDIS), wiki.move("x.md", BACKUPS)), id="exchanged"),
    pytest.param(lambda wiki: wiki.state.take(Taken(removed=[IDS[REDIS]]), 2), id="left out"),
    pytest.param(lambda wiki: wiki.known({REDIS: TEXTS[REDIS] + "More.\n"}, finished=False), id="about to be written"),
    pytest.param(lambda wiki: wiki.known({REDIS: TEXTS[REDIS] + "More.\n"}), id="written elsewhere"),
])  # fmt: skip
def test_files_that_were_seen_before_are_judged_as_those_that_never_were(
    wiki: Wiki, done: Callable[[Wiki], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hindbrain.wiki.folder._TICK_NS", -(1 << 62))  # as if all of it were long ago
    assert wiki.sync() == Synced()
    assert all(wiki.folder.untouched(path, text) for path, text in TEXTS.items())
    done(wiki)
    found = wiki.sync(), wiki.sync()
    wiki.folder = Folder(wiki.root)
    fresh = wiki.sync()
    assert found == (fresh, fresh)
