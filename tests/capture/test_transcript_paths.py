"""Only a regular *.jsonl file below the agent's own folder is ever opened, and nothing that is tried can block."""

from __future__ import annotations

import errno
import os
import resource
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.errors import StorageError, UnsafePath
from hindbrain.capture.transcript import allowed, follow

LINE = b'{"type":"user","sessionId":"s","message":{"role":"user","content":"a"}}\n'


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A root with one good transcript, and everything that could be mistaken for one, in it and beside it."""
    root = tmp_path / "root"
    (root / "p").mkdir(parents=True)
    outside = tmp_path / "outside"
    (outside / "p").mkdir(parents=True)
    for path in (root / "p" / "s.jsonl", outside / "secret.jsonl", outside / "p" / "s.jsonl", tmp_path / "root2.jsonl"):
        path.write_bytes(LINE)
    for name in ("s.json", "s.txt", "s", "s.jsonl.bak", "s.JSONL", ".jsonl"):
        (root / "p" / name).write_bytes(LINE)
    (root / "p" / "dir.jsonl").mkdir()
    (root / "p" / "out.jsonl").symlink_to(outside / "secret.jsonl")
    (root / "p" / "relative.jsonl").symlink_to("../../outside/secret.jsonl")
    (root / "p" / "loop.jsonl").symlink_to("loop.jsonl")
    (root / "p" / "dangling.jsonl").symlink_to(outside / "none.jsonl")
    (root / "p" / "mem.jsonl").symlink_to("/proc/self/mem")
    (root / "p" / "null.jsonl").symlink_to("/dev/null")
    (root / "p" / "totext.jsonl").symlink_to(root / "p" / "s.txt")
    (root / "p" / "tofifo.jsonl").symlink_to(root / "p" / "fifo.jsonl")
    (root / "linked").symlink_to(outside)
    (root / "up").symlink_to(tmp_path)
    (root / "p" / "inside.jsonl").symlink_to(root / "p" / "s.jsonl")
    os.mkfifo(root / "p" / "fifo.jsonl")
    (tmp_path / "root-other").mkdir()
    (tmp_path / "root-other" / "s.jsonl").write_bytes(LINE)
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(root / "p", os.O_RDONLY)
        try:  # the path of a socket may not be long, so it is bound through the folder's descriptor
            listener.bind(f"/proc/self/fd/{here}/socket.jsonl")
            yield tmp_path
        finally:
            os.close(here)


# {t} is the folder around the root, {r} the root.
REFUSED = [
    "", " ", "/", ".", "..", "~", "~/.claude/projects/p/s.jsonl", "~root/s.jsonl", "s.jsonl", "p/s.jsonl",
    "./s.jsonl", "../outside/secret.jsonl", "{r}", "{r}/", "{r}/p", "{r}/p/", "{r}/p/s.jsonl/", "{r}/p/s.jsonl/.",
    "{r}/p/s.jsonl/x.jsonl", "{r}/../outside/secret.jsonl", "{r}/p/../../outside/secret.jsonl", "{r}/p/../p/s.jsonl",
    "{r}/..", "{r}/p/s.jsonl/..", "{t}/outside/secret.jsonl", "{t}/root2.jsonl", "{t}/root-other/s.jsonl",
    "{r}/p/s.json", "{r}/p/s.txt", "{r}/p/s", "{r}/p/s.jsonl.bak", "{r}/p/s.JSONL", "{r}/p/.jsonl",
    "{r}/p/dir.jsonl", "{r}/p/out.jsonl", "{r}/p/relative.jsonl", "{r}/p/loop.jsonl", "{r}/p/dangling.jsonl",
    "{r}/p/mem.jsonl", "{r}/p/null.jsonl", "{r}/p/totext.jsonl", "{r}/p/tofifo.jsonl", "{r}/linked/secret.jsonl",
    "{r}/linked/p/s.jsonl", "{r}/up/outside/secret.jsonl", "{r}/p/fifo.jsonl", "{r}/p/socket.jsonl",
    "{r}/p/s.jsonl\x00", "{r}/p/s\x00.jsonl", "\x00", "{r}/p/s.jsonl\n", "{r}/p/\ud800.jsonl", "{r}/p/\udcff.jsonl",
    "file://{r}/p/s.jsonl", "{r}/p/" + "a" * 300 + ".jsonl", "{r}" + "/a" * 3_000 + ".jsonl", "/" + "a" * 1_000_000,
    "/proc/self/mem", "/proc/self/environ", "/proc/self/fd/0", "/dev/zero", "/dev/stdin", "/dev/tty", "/etc/passwd",
    "/etc/shadow", "C:\\Users\\x\\s.jsonl", "\\\\host\\share\\s.jsonl", "{r}\\p\\s.jsonl", "-", "--help",
]  # fmt: skip


def name_of(template: str) -> str:
    return ascii(template if len(template) < 60 else f"{template[:40]}... {len(template)} characters")


@pytest.mark.parametrize("template", REFUSED, ids=name_of)
def test_a_path_that_is_no_transcript_is_refused(place: Path, template: str) -> None:
    path = template.replace("{t}", str(place)).replace("{r}", str(place / "root"))
    with pytest.raises(UnsafePath) as caught:
        allowed(path, [place / "root"])
    assert "refused" in caught.value.message
    str(caught.value).encode()
    with pytest.raises(UnsafePath):
        follow(path, [place / "root"], None, now_ms=1)


def test_there_are_enough_attacks() -> None:
    assert len(set(REFUSED)) >= 60


@pytest.mark.parametrize("path", ["{r}/p/s.jsonl", "{r}//p/./s.jsonl", "{r}/p/inside.jsonl"])
def test_a_transcript_in_its_place_is_followed(place: Path, path: str) -> None:
    given = path.replace("{r}", str(place / "root"))
    assert allowed(given, [place / "none", place / "root"]) == place / "root" / "p" / "s.jsonl"
    assert [event.text for event in follow(given, [place / "root"], None, now_ms=1).events] == ["a"]


def test_a_root_may_itself_be_reached_by_a_link(place: Path) -> None:
    (place / "home").symlink_to(place / "root")
    assert allowed(str(place / "home" / "p" / "s.jsonl"), [place / "home"]) == place / "root" / "p" / "s.jsonl"


def test_without_roots_nothing_is_allowed(place: Path) -> None:
    with pytest.raises(UnsafePath):
        allowed(str(place / "root" / "p" / "s.jsonl"), [])


def test_a_missing_file_is_not_allowed_but_can_be_followed(place: Path) -> None:
    missing = str(place / "root" / "p" / "none.jsonl")
    with pytest.raises(UnsafePath):
        allowed(missing, [place / "root"])
    assert follow(missing, [place / "root"], None, now_ms=1).events == []


def test_no_descriptor_is_left_open(place: Path) -> None:
    def descriptors() -> int:
        return len(os.listdir("/proc/self/fd"))

    before = descriptors()
    for template in REFUSED:
        path = template.replace("{t}", str(place)).replace("{r}", str(place / "root"))
        with pytest.raises(UnsafePath):
            follow(path, [place / "root"], None, now_ms=1)
    follow(str(place / "root" / "p" / "s.jsonl"), [place / "root"], None, now_ms=1)
    assert descriptors() == before


def test_a_folder_swapped_for_a_link_after_it_was_resolved_leads_nowhere(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = place / "root"
    resolve = os.path.realpath

    def resolve_then_swap(path: str | os.PathLike[str]) -> str:
        found = resolve(path)
        if found.endswith("s.jsonl"):
            (root / "p").rename(root / "p-was")
            (root / "p").symlink_to(place / "outside" / "p")
        return found

    monkeypatch.setattr(os.path, "realpath", resolve_then_swap)
    with pytest.raises(UnsafePath):
        follow(str(root / "p" / "s.jsonl"), [root], None, now_ms=1)


def test_a_machine_out_of_descriptors_is_no_unsafe_path(place: Path) -> None:
    path = place / "root" / "p" / "s.jsonl"
    lowest_free = os.open(place, os.O_RDONLY)
    os.close(lowest_free)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, hard))
    try:
        with pytest.raises(StorageError) as caught:
            follow(str(path), [place / "root"], None, now_ms=1)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert not isinstance(caught.value, UnsafePath)
    assert caught.value.errno == errno.EMFILE
