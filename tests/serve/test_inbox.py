"""Files dropped into the inbox: read when nobody writes to them any more, kept once, moved away; what cannot be read is said."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.base.errors import JournalError
from hindbrain.base.files import ensure_private_dir
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.capture.record import Recorder
from hindbrain.ledger.query import Turn
from hindbrain.ledger.store import Ledger
from hindbrain.queues.queue import Queue
from hindbrain.serve.drain import Drain
from hindbrain.serve.inbox import MOST_BYTES, STABLE_SECONDS, TURN_CHARS, Inbox, parts
from tests.crash.strace import Fault, calls, first_numbers, run_with, sweep
from tests.serve.commands import CommandLine
from tests.serve.test_reasoning import own

NOW = ManualClock().now_ms()
# put together here, so that no file of this repository holds a text that looks like a key
SECRET = "gh" + "p_" + "Z7qk" * 9
TAKE = """
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain
home = Home(Path(sys.argv[1]))
with Ledger.open(home.ledger, SystemClock()) as ledger:
    drain = Drain(home, ledger, SystemClock(), [], follows=False)
    drain.run()
    drain.close()
"""
ENVIRON = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "src", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.inbox.mkdir(mode=0o700, parents=True)
    return found


def drop(home: Home, name: str, content: str | bytes, age: float = 60.0) -> Path:
    """Put a file into the inbox, last written to so many seconds ago."""
    path = home.inbox / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    moment = NOW / 1000 - age
    os.utime(path, (moment, moment))
    return path


@contextmanager
def looking(home: Home, clock: ManualClock) -> Iterator[tuple[Inbox, Recorder]]:
    recorder = Recorder(home.root)
    try:
        yield Inbox(home, recorder, clock), recorder
    finally:
        recorder.close()


def take(home: Home) -> None:
    """What a worker or a settling program does."""
    with Ledger.open(home.ledger, ManualClock()) as ledger:
        drain = Drain(home, ledger, ManualClock(), [], follows=False)
        drain.run()
        drain.close()


def turns(home: Home, name: str) -> list[Turn]:
    with Ledger.open(home.ledger, ManualClock()) as ledger:
        return ledger.turns_of(session_id("inbox", name))


def texts(home: Home, name: str) -> list[str]:
    return [turn.text for turn in turns(home, name)]


def left(home: Home) -> list[str]:
    return sorted(path.name for path in home.inbox.iterdir() if path.name != "done")


def done(home: Home) -> dict[str, bytes]:
    folder = home.inbox / "done"
    return {path.name: path.read_bytes() for path in folder.iterdir()} if folder.exists() else {}


def test_a_dropped_file_becomes_a_session_of_its_name_and_is_moved(home: Home) -> None:
    drop(home, "notes.md", "# Orders\n\nWe decided to use PostgreSQL.\n")
    drop(home, "other.txt", "Never deploy on Fridays.")
    take(home)
    assert (texts(home, "notes.md"), texts(home, "other.txt")) == (
        ["# Orders\n\nWe decided to use PostgreSQL.\n"], ["Never deploy on Fridays."],
    )  # fmt: skip
    assert left(home) == []
    assert done(home) == {"notes.md": b"# Orders\n\nWe decided to use PostgreSQL.\n", "other.txt": b"Never deploy on Fridays."}


def test_what_was_dropped_says_who_said_it_when_and_where_it_stands(home: Home) -> None:
    drop(home, "notes.md", "We use PostgreSQL.", age=3600.0)
    take(home)
    with Ledger.open(home.ledger, ManualClock()) as ledger, ledger.reading() as database:
        (row,) = database.execute(
            "SELECT turns.role, agent, at, source_path, source_start, source_end, turns.detail, end_reason FROM turns"
            " JOIN sessions ON sessions.id = turns.session_id"
        ).fetchall()
    detail = '{"name":"notes.md","origin":"human file","trust":"human_file"}'
    assert row == ("user", "inbox", NOW - 3_600_000, str(home.inbox / "done" / "notes.md"), 0, 18, detail, "file")


def test_a_file_is_read_for_reasoning_at_once(home: Home) -> None:
    drop(home, "notes.md", "We use PostgreSQL.")
    take(home)
    with Ledger.open(home.ledger, ManualClock()) as ledger:
        jobs = [(job.kind, job.key, job.state, job.forced) for job in Queue(ledger, ManualClock()).listing()]
    assert jobs == [("extract", session_id("inbox", "notes.md"), "ready", True)]


def test_the_same_file_again_is_nothing_new_and_another_of_its_name_is(home: Home) -> None:
    for text in ("First version.", "First version.", "Second version.", "First version."):
        drop(home, "notes.md", text)
        take(home)
    assert sorted(texts(home, "notes.md")) == ["First version.", "Second version."]
    assert left(home) == [] and len(done(home)) == 3 and done(home)["notes.md"] == b"First version."


def test_a_file_is_not_read_before_it_has_been_left_alone_for_a_while(home: Home) -> None:
    clock = ManualClock()
    path = drop(home, "notes.md", "We use", age=0.0)
    with looking(home, clock) as (box, _):
        assert box.take() == 0 and box.next_due() == STABLE_SECONDS
        path.write_text("We use PostgreSQL.")
        os.utime(path, (NOW / 1000 + 1, NOW / 1000 + 1))
        clock.advance(STABLE_SECONDS)
        assert (box.take(), left(home)) == (0, ["notes.md"])  # it was written to meanwhile
        clock.advance(STABLE_SECONDS)
        assert (box.take(), left(home)) == (2, [])
    take(home)
    assert texts(home, "notes.md") == ["We use PostgreSQL."]


def test_a_file_whose_time_lies_in_the_future_is_read_all_the_same(home: Home) -> None:
    clock = ManualClock()
    drop(home, "notes.md", "We use PostgreSQL.", age=-86_400.0)
    with looking(home, clock) as (box, _):
        assert box.take() == 0
        clock.advance(STABLE_SECONDS)
        assert box.take() == 2
    take(home)
    assert [turn.at for turn in turns(home, "notes.md")] == [NOW + 2000]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether somebody has a file open")
def test_a_file_somebody_has_open_for_writing_is_left_to_them(home: Home) -> None:
    path = drop(home, "notes.md", "We use ")
    with open(path, "a") as writer:
        take(home)
        assert (left(home), done(home)) == (["notes.md"], {})
        writer.write("PostgreSQL.")
    os.utime(path, (1, 1))
    take(home)
    assert texts(home, "notes.md") == ["We use PostgreSQL."]


def test_a_file_that_is_replaced_while_it_is_put_away_is_not_lost(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    drop(home, "notes.md", "First version.")
    real = ensure_private_dir

    def replacing(path: Path) -> Path:
        monkeypatch.setattr("hindbrain.serve.inbox.ensure_private_dir", real)
        other = home.inbox / "editor.tmp"
        other.write_text("Second version.")
        os.utime(other, (NOW / 1000 - 60, NOW / 1000 - 60))
        other.rename(home.inbox / "notes.md")
        return real(path)

    monkeypatch.setattr("hindbrain.serve.inbox.ensure_private_dir", replacing)
    clock = ManualClock()
    with looking(home, clock) as (box, _):
        assert box.take() == 0
        assert left(home) == ["notes.md"] and done(home) == {}
        assert box.take() == 2
    take(home)
    assert sorted(texts(home, "notes.md")) == ["First version.", "Second version."]
    assert done(home) == {"notes.md": b"Second version."}


REFUSED: dict[str, tuple[bytes, str]] = {
    "huge.txt": (b"x" * (MOST_BYTES + 1), f"it has {MOST_BYTES + 1} bytes, and {MOST_BYTES} are the most"),
    "latin.txt": ("Größe der Tür".encode("latin-1"), "latin.txt is not UTF-8 text: byte 2 is not"),
    "binary.md": (b"\x7fELF\x00\x00\x01", "binary.md is not text: it holds zero bytes"),
    "cut.txt": ("Größe".encode()[:3], "cut.txt is not UTF-8 text: byte 2 is not"),
    "half-wide.txt": (b"\xff\xfea\x00b", "half-wide.txt is not UTF-8 text: byte 4 is not"),
    "surrogate.txt": (b"\xed\xa0\x80", "surrogate.txt is not UTF-8 text: byte 0 is not"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_text_or_too_much_stays_and_a_note_says_why(home: Home, name: str) -> None:
    content, why = REFUSED[name]
    drop(home, name, content)
    take(home)
    take(home)
    assert left(home) == [name, f"{name}.refused"] and done(home) == {}
    assert (home.inbox / f"{name}.refused").read_text().splitlines()[0] == f"Hindbrain did not take {name}: {why}."
    assert texts(home, name) == []
    (home.inbox / name).unlink()
    take(home)
    assert left(home) == []  # the note goes with its file


def test_a_refused_file_that_is_put_right_is_taken_and_its_note_goes(home: Home) -> None:
    clock = ManualClock()
    drop(home, "notes.txt", b"\xff\xff\xff")
    with looking(home, clock) as (box, _):
        assert box.take() == 0 and left(home) == ["notes.txt", "notes.txt.refused"]
        drop(home, "notes.txt", "Fine now.")
        assert box.take() == 2
        box.take()
        assert left(home) == []


def test_links_folders_and_pipes_are_never_followed(home: Home, tmp_path: Path) -> None:
    secret = tmp_path / "private.txt"
    secret.write_text("not for the inbox")
    os.utime(secret, (1, 1))
    (home.inbox / "link.txt").symlink_to(secret)
    (home.inbox / "nowhere.txt").symlink_to(tmp_path / "absent")
    (home.inbox / "folder.md").mkdir()
    os.mkfifo(home.inbox / "pipe.txt")
    take(home)
    notes = {path.name: path.read_text().splitlines()[0] for path in home.inbox.glob("*.refused")}
    assert notes == {
        "link.txt.refused": "Hindbrain did not take link.txt: it is a link.",
        "nowhere.txt.refused": "Hindbrain did not take nowhere.txt: it is a link.",
        "pipe.txt.refused": "Hindbrain did not take pipe.txt: it is not a plain file.",
    }
    with Ledger.open(home.ledger, ManualClock()) as ledger:
        assert ledger.sessions() == []
    assert secret.read_text() == "not for the inbox"


def test_other_names_are_left_alone_without_a_word(home: Home) -> None:
    for name in ("photo.png", ".hidden.md", "notes.md.part", "notes", "README.MD.refused"):
        drop(home, name, "text")
    take(home)
    assert left(home) == sorted(["photo.png", ".hidden.md", "notes.md.part", "notes", "README.MD.refused"])
    assert done(home) == {}


@pytest.mark.parametrize(
    "name", [b"new\nline.txt", b"\x1b[2J.md", b"\xff\xfe.txt", b"-rf.txt", b"NOTES.MD", ("ü" * 120).encode() + b".txt"],
    ids=["newline", "escape", "no utf8", "option", "capitals", "long"],
)  # fmt: skip
def test_any_name_a_file_can_have_will_do(home: Home, name: bytes) -> None:
    text = os.fsdecode(name)
    drop(home, text, "We use PostgreSQL.")
    take(home)
    with Ledger.open(home.ledger, ManualClock()) as ledger:
        (session,) = ledger.sessions()
        assert [turn.text for turn in ledger.turns_of(session.id)] == ["We use PostgreSQL."]
    assert left(home) == [] and list(done(home).values()) == [b"We use PostgreSQL."]


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (b"", []), (b" \n\t\r\n", []), (b"\xef\xbb\xbfWith a mark.", ["With a mark."]), (b"One\r\nTwo", ["One\r\nTwo"]),
        ("Groß".encode("utf-16"), ["Groß"]), (b"\x1b[31mred\x07", ["\x1b[31mred\x07"]),
    ],
    ids=["empty", "blank", "mark", "returns", "wide", "controls"],
)  # fmt: skip
def test_odd_texts_are_read_as_they_are_meant(home: Home, content: bytes, wanted: list[str]) -> None:
    drop(home, "notes.txt", content)
    take(home)
    assert (texts(home, "notes.txt"), left(home), done(home)) == (wanted, [], {"notes.txt": content})


def test_a_long_file_becomes_several_turns_that_together_are_the_file(home: Home) -> None:
    content = "\n\n".join(f"Paragraph {number}: " + "word ü " * (number % 900) for number in range(150))
    drop(home, "long.md", content)
    take(home)
    found = turns(home, "long.md")
    assert "".join(turn.text for turn in found) == content
    assert len(found) > 5 and all(len(turn.text) <= TURN_CHARS for turn in found)
    assert all(turn.text.endswith("\n\n") for turn in found[:-1])
    assert [turn.at for turn in found] == [NOW - 60_000 + number for number in range(len(found))]


@pytest.mark.parametrize("text", ["", "a", "aaaa", "a b", "a\n\nb c", "\n\n\n\n\n", "ab\ncd\nef gh", "x" * 50])
@pytest.mark.parametrize("most", [1, 2, 3, 5])
def test_pieces_of_a_text_are_the_text(text: str, most: int) -> None:
    found = list(parts(text, most))
    assert "".join(found) == text and all(len(each) <= most for each in found)


@pytest.mark.parametrize("codec", ["utf-8", "utf-16"])
def test_a_secret_in_a_file_is_in_no_file_of_the_home_once_it_is_taken(home: Home, codec: str) -> None:
    told = f"The token is {SECRET}, keep it. And {SECRET}."
    for _ in range(2):
        drop(home, "notes.md", told.encode(codec))
        take(home)
    (turn,) = turns(home, "notes.md")
    assert SECRET not in turn.text and "keep it" in turn.text
    found = [path.read_bytes() for path in home.root.rglob("*") if path.is_file()]
    assert not [data for data in found if SECRET.encode() in data or SECRET.encode("utf-16-le") in data]
    assert (left(home), done(home)) == ([], {"notes.md": turn.text.encode()})
    assert (home.inbox / "done" / "notes.md").stat().st_mtime == NOW / 1000 - 60
    with Ledger.open(home.ledger, ManualClock()) as ledger:
        assert ledger.counts().redacted == {"github-token": 2}, "counted once, however often it comes"


def test_a_file_whose_secrets_were_to_be_taken_out_when_all_stopped_is_taken_up(home: Home) -> None:
    drop(home, ".notes.md.taking", f"The token is {SECRET}, keep it.")
    take(home)
    (text,) = texts(home, "notes.md")
    assert (left(home), done(home)) == ([], {"notes.md": text.encode()})


def test_a_journal_that_cannot_be_written_leaves_the_file_where_it_is(home: Home) -> None:
    drop(home, "notes.md", "We use PostgreSQL.")

    class Full(Recorder):
        def record(self, events: object, now_ms: int) -> int:
            raise JournalError("the disk is full")

    recorder = Full(home.root)
    with pytest.raises(JournalError):
        Inbox(home, recorder, ManualClock()).take()
    recorder.close()
    assert left(home) == ["notes.md"]
    take(home)
    assert texts(home, "notes.md") == ["We use PostgreSQL."]


def test_a_folder_the_file_cannot_be_moved_to_costs_no_text_and_doubles_none(home: Home) -> None:
    (home.inbox / "done").write_text("not a folder")
    drop(home, "notes.md", "We use PostgreSQL.")
    for _ in range(2):
        take(home)
    assert texts(home, "notes.md") == ["We use PostgreSQL."]
    assert left(home) == ["notes.md", "notes.md.refused"]
    assert "its text is kept, but it cannot be moved" in (home.inbox / "notes.md.refused").read_text()


def test_a_home_without_an_inbox_has_none_to_look_at(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.root.mkdir(mode=0o700)
    with looking(home, ManualClock()) as (box, _):
        assert (box.take(), box.next_due()) == (0, None)


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.parametrize("told", ["We use PostgreSQL.", f"The token is {SECRET}."], ids=["plain", "secret"])
@pytest.mark.parametrize("call", ["write", "rename", "unlink", "fsync", "fdatasync"])
def test_killed_at_any_call_a_file_is_there_once_and_is_moved_by_the_next(tmp_path: Path, call: str, told: str) -> None:
    kept = told.replace(SECRET, "[redacted:github-token]")

    def prepared(name: str) -> Home:
        home = Home(tmp_path / name)
        home.inbox.mkdir(mode=0o700, parents=True)
        Ledger.open(home.ledger, SystemClock()).close()
        path = home.inbox / "notes.md"
        path.write_text(told)
        os.utime(path, (1, 1))
        return home

    def argv(home: Home) -> list[str]:
        return [sys.executable, "-c", TAKE, str(home.root)]

    first = first_numbers(calls(argv(prepared("dry")), b"", ENVIRON, tmp_path / "log"), lambda line: "inbox" in line)
    if call not in first:
        pytest.skip(f"taking a file makes no {call} call here")

    def faulted(fault: Fault) -> bool:
        home = prepared(f"{fault.call}-{fault.number}")
        ran = run_with(fault, argv(home), b"", ENVIRON, tmp_path / "log")
        if ran.injected:
            with Ledger.open(home.ledger, SystemClock()) as ledger:
                drain = Drain(home, ledger, SystemClock(), [], follows=False)
                drain.run()
                drain.close()
                said = [turn.text for turn in ledger.turns_of(session_id("inbox", "notes.md"))]
            whole = {name: data for name, data in done(home).items() if not name.endswith(".tmp")}
            assert (said, left(home), whole) == ([kept], [], {"notes.md": kept.encode()}), fault
            assert not any(SECRET.encode() in path.read_bytes() for path in home.root.rglob("*") if path.is_file()), fault
        return ran.injected

    assert sweep(call, "signal=KILL", first[call], faulted, limit=400) >= 1


def test_show_looks_for_the_text_where_the_file_was_put_away(run: CommandLine) -> None:
    home = run.home
    ensure_private_dir(home.inbox)
    drop(home, "notes.md", "Grüße.\n\nThe VPN gateway is vpn.acme.test.\n")
    take(home)
    ((turn,),) = own(home.root, "SELECT id FROM turns")
    assert run.one("show", turn)["source"]["state"] == "there"
    assert f"{home.inbox / 'done' / 'notes.md'} bytes 0 to 44; still there" in run("show", turn).out
    (home.inbox / "done" / "notes.md").write_text("Grüße.\n\nThe VPN gateway is vpn.other.test.\n")
    assert run.one("show", turn)["source"]["state"] == "changed"
    (home.inbox / "done" / "notes.md").unlink()
    assert run.one("show", turn)["source"]["state"] == "gone"
