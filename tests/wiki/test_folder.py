"""Files of the wiki: read without following links, written whole, and never over what somebody else put there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.errors import StorageError, UnsafePath
from hindbrain.wiki.folder import MOST_BYTES, CompileRunning, File, Folder, NotText, Write

HELD = """
import sys
from pathlib import Path
from hindbrain.wiki.folder import Folder
with Folder(Path(sys.argv[1])).locked():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "wiki")
    made.prepare()
    return made


def text_at(folder: Folder, path: str) -> str | None:
    found = folder.read(path)
    return found.text if found is not None else None


def everything(folder: Folder) -> dict[str, str]:
    """Every file below, hidden ones and leftovers too, but for what is ours."""
    found = [path for path in folder.root.rglob("*") if path.is_file() and folder.own not in path.parents]
    return {str(path.relative_to(folder.root)): path.read_bytes().decode() for path in found}


def test_what_is_written_is_read_and_nothing_is_left_beside_it(folder: Folder) -> None:
    assert folder.put([Write("concepts/a.md", "a\r\n", None), Write("index.md", "é", None)]) == []
    assert everything(folder) == {"concepts/a.md": "a\r\n", "index.md": "é"}
    assert text_at(folder, "concepts/a.md") == "a\r\n"
    assert folder.read("concepts/none.md") is None
    assert folder.read("none/none.md") is None


def test_a_private_wiki_is_its_owners_alone_and_a_file_keeps_its_mode(folder: Folder) -> None:
    folder.put([Write("concepts/a.md", "1", None), Write("concepts/b.md", "1", None)])
    path = folder.root / "concepts" / "a.md"
    path.chmod(0o644)
    folder.put([Write("concepts/a.md", "2", "1"), Write("concepts/b.md", "2", "1")])
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (folder.root, path.parent, path, path.with_name("b.md"))]
    assert modes == [0o700, 0o700, 0o644, 0o600]


def test_a_wiki_inside_a_repository_has_the_modes_of_any_file_there(tmp_path: Path) -> None:
    shared = Folder(tmp_path / "repository" / "docs", shared=True)
    before = os.umask(0o022)
    try:
        shared.prepare()
        shared.put([Write("concepts/a.md", "1", None)])
    finally:
        os.umask(before)
    path = shared.root / "concepts" / "a.md"
    assert [stat.S_IMODE(each.stat().st_mode) for each in (shared.root, path.parent, path)] == [0o755, 0o755, 0o644]
    assert (shared.own / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("stands", ["another", None])
@pytest.mark.parametrize("text", ["new", None])
def test_what_is_no_longer_as_it_was_seen_is_left_alone(folder: Folder, stands: str | None, text: str | None) -> None:
    if stands is not None:
        folder.put([Write("concepts/a.md", stands, None)])
    before = everything(folder)
    assert folder.put([Write("concepts/a.md", text, "seen")]) == ["concepts/a.md"]
    assert everything(folder) == before


def test_a_file_nobody_expected_is_not_written_over(folder: Folder) -> None:
    folder.put([Write("concepts/a.md", "a person's", None)])
    assert folder.put([Write("concepts/a.md", "ours", None), Write("concepts/b.md", "ours", None)]) == ["concepts/a.md"]
    assert everything(folder) == {"concepts/a.md": "a person's", "concepts/b.md": "ours"}


def test_a_file_is_taken_away_only_as_it_was_seen(folder: Folder) -> None:
    folder.put([Write("concepts/a.md", "1", None), Write("concepts/b.md", "1", None)])
    assert folder.put([Write("concepts/a.md", None, "1"), Write("concepts/b.md", None, "0")]) == ["concepts/b.md"]
    assert everything(folder) == {"concepts/b.md": "1"}


def test_links_are_neither_read_nor_followed_nor_replaced(folder: Folder, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("secret")
    (folder.root / "concepts").mkdir()
    (folder.root / "concepts" / "a.md").symlink_to(secret)
    with pytest.raises(UnsafePath):
        folder.read("concepts/a.md")
    for was in (None, "secret"):
        assert folder.put([Write("concepts/a.md", "ours", was)]) == ["concepts/a.md"]
    assert folder.put([Write("concepts/a.md", None, "secret")]) == ["concepts/a.md"]
    assert (folder.root / "concepts" / "a.md").is_symlink() and secret.read_text() == "secret"
    assert folder.files() == []


def test_a_folder_that_became_a_link_leads_nowhere(folder: Folder, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("theirs")
    (folder.root / "concepts").symlink_to(outside)
    for act in (lambda: folder.read("concepts/a.md"), lambda: folder.put([Write("concepts/a.md", "ours", "theirs")]),
                lambda: folder.put([Write("concepts/new.md", "ours", None)])):  # fmt: skip
        with pytest.raises(UnsafePath):
            act()
    assert folder.files() == []
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("a.md", "theirs")]


@pytest.mark.parametrize(
    "path", ["../a.md", "/etc/passwd", "concepts/../../a.md", "concepts/.hidden.md", "C:/a.md", "", "a\0.md", "a/"]
)
def test_no_path_leads_out_of_the_wiki(folder: Folder, path: str) -> None:
    with pytest.raises(UnsafePath):
        folder.read(path)
    with pytest.raises(UnsafePath):
        folder.put([Write(path, "ours", None)])


def test_what_is_no_text_is_refused_and_a_pipe_does_not_hang(folder: Folder) -> None:
    (folder.root / "concepts").mkdir()
    (folder.root / "concepts" / "bytes.md").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(folder.root / "concepts" / "pipe.md")
    (folder.root / "concepts" / "folder.md").mkdir()
    with (folder.root / "concepts" / "long.md").open("wb") as file:
        file.truncate(MOST_BYTES + 1)
    for name, error in (("bytes", NotText), ("pipe", UnsafePath), ("folder", UnsafePath), ("long", NotText)):
        with pytest.raises(error):
            folder.read(f"concepts/{name}.md")
        assert folder.put([Write(f"concepts/{name}.md", "ours", None)]) == [f"concepts/{name}.md"]


def test_only_markdown_that_is_not_hidden_is_listed(folder: Folder) -> None:
    for path in ("index.md", "concepts/a.md", "my/own/note.md", ".obsidian/x.md", "concepts/.draft.md", "concepts/a.png"):
        (folder.root / path).parent.mkdir(parents=True, exist_ok=True)
        (folder.root / path).write_text("x")
    assert folder.files() == ["concepts/a.md", "index.md", "my/own/note.md"]
    assert Folder(folder.root / "nowhere").files() == []


def test_the_time_of_a_file_can_be_given(folder: Folder) -> None:
    folder.put([Write("index.md", "1", None, 1_000_000_000)])
    assert folder.read("index.md") == File("1", 1_000_000_000)


def test_what_a_crash_left_beside_a_page_is_cleared_and_never_in_the_way(folder: Folder) -> None:
    folder.put([Write("concepts/a.md", "1", None)])
    folder._ready(Write("concepts/a.md", "2", "1"))
    assert len(everything(folder)) == 2
    folder.clear(["concepts/a.md", "connections/none.md"])
    assert everything(folder) == {"concepts/a.md": "1"}
    folder._ready(Write("concepts/a.md", "half", "1"))
    assert folder.put([Write("concepts/a.md", "2", "1")]) == []
    assert everything(folder) == {"concepts/a.md": "2"}


def test_a_folder_that_cannot_be_written_says_so(folder: Folder) -> None:
    (folder.root / "concepts").write_text("a file where a folder should be")
    with pytest.raises(StorageError):
        folder.put([Write("concepts/a.md", "1", None)])


def test_whoever_comes_second_is_told_and_the_lock_ends_with_its_holder(folder: Folder) -> None:
    first = subprocess.Popen([sys.executable, "-c", HELD, str(folder.root)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert first.stdin is not None and first.stdout is not None
    with first:
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(CompileRunning, match=f"process {first.pid} is at work"), folder.locked():
            raise AssertionError("two at once")
        first.kill()
        first.wait()
        with folder.locked():
            pass


@pytest.fixture
def seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Folder, Path]:
    """A page that says "one", looked at as if it were long ago."""
    monkeypatch.setattr("hindbrain.wiki.folder._TICK_NS", -(1 << 62))
    folder, path = Folder(tmp_path), tmp_path / "concepts" / "a.md"
    path.parent.mkdir()
    path.write_text("one", encoding="utf-8")
    assert not folder.untouched("concepts/a.md", "one")  # nobody looked yet
    assert folder.read("concepts/a.md") is not None
    return folder, path


def test_a_file_that_nobody_touched_is_known_without_reading_and_one_of_the_same_length_and_time_is_not(
    seen: tuple[Folder, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, path = seen
    before = path.stat()
    with monkeypatch.context() as without:
        without.setattr("os.open", None)
        assert folder.untouched("concepts/a.md", "one") and not folder.untouched("concepts/a.md", "two")
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_text("two", encoding="utf-8")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert not folder.untouched("concepts/a.md", "one") and not folder.untouched("concepts/a.md", "two")
    found = folder.read("concepts/a.md")
    assert found is not None and (found.text, found.changed_ns) == ("two", before.st_mtime_ns)
    assert folder.untouched("concepts/a.md", "two") and not folder.untouched("concepts/a.md", "one")


def test_a_file_that_is_gone_or_another_or_a_link_now_was_touched(seen: tuple[Folder, Path], tmp_path: Path) -> None:
    folder, path = seen
    kept = path.rename(tmp_path / "kept")
    assert not folder.untouched("concepts/a.md", "one")
    path.symlink_to(kept)
    assert not folder.untouched("concepts/a.md", "one")
    path.unlink()
    path.write_text("one", encoding="utf-8")
    assert not folder.untouched("concepts/a.md", "one")


def test_a_file_that_was_just_written_may_be_touched_again_whatever_its_times_say(tmp_path: Path) -> None:
    folder, path = Folder(tmp_path), tmp_path / "concepts" / "a.md"
    path.parent.mkdir()
    for words in ("one", "two", "six"):
        path.write_text(words, encoding="utf-8")
        os.utime(path, ns=(0, 0))
        found = folder.read("concepts/a.md")
        assert found is not None and found.text == words and not folder.untouched("concepts/a.md", words)
