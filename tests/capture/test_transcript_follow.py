"""A transcript is followed by whole lines, in any steps, past any line, with the same result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.redact import Redaction
from hindbrain.capture.event import Event
from hindbrain.capture.salvage import Unreadable
from hindbrain.capture.transcript import (
    HEAD_BYTES,
    MAX_LINE_BYTES,
    Followed,
    Problem,
    TranscriptCursor,
    follow,
    transcripts_changed,
)

NOW = 1_794_765_000_000


def user(words: Any, **more: Any) -> bytes:
    message = {"role": "user", "content": words}
    line = {"type": "user", "promptId": "q", "sessionId": "s", "message": message, **more}
    return json.dumps(line, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def assistant(words: str) -> bytes:
    # As the client writes it: the message before the type.
    message = {"role": "assistant", "content": [{"type": "text", "text": words}]}
    return json.dumps({"parentUuid": None, "message": message, "type": "assistant", "sessionId": "s"}).encode() + b"\n"


SMALL = b"".join(
    [
        user("grüß \U0001f600", uuid="1", timestamp="2026-11-15T17:50:53.595Z"),
        b'{"type":"mode"}\n',
        assistant("ok"),
        b"not json\n",
        assistant("ok"),
        b"\r\n",
        user("grüß \U0001f600"),
    ]
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "p").mkdir()
    return tmp_path / "p" / "s.jsonl"


def step(file: Path, cursor: TranscriptCursor | None = None, **more: Any) -> Followed:
    """One step, through the cursor's stored form."""
    saved = None if cursor is None else TranscriptCursor.from_json(json.loads(json.dumps(cursor.to_json())))
    return follow(str(file), [file.parent.parent], saved, now_ms=NOW, **more)


def in_steps(file: Path, max_bytes: int) -> tuple[list[Event], list[Problem], int]:
    events: list[Event] = []
    problems: list[Problem] = []
    cursor, steps, more = None, 0, True
    while more:
        found = step(file, cursor, max_bytes=max_bytes)
        events, problems, cursor, more = events + found.events, problems + found.problems, found.cursor, found.more
        steps += 1
    return events, problems, steps


def test_following_a_file_cut_at_every_byte_equals_following_it_at_once(file: Path) -> None:
    file.write_bytes(SMALL)
    whole = step(file)
    assert [event.text for event in whole.events] == ["grüß \U0001f600", "ok", "ok", "grüß \U0001f600"]
    assert len({event.id for event in whole.events}) == 4
    for cut in range(len(SMALL) + 1):
        file.write_bytes(SMALL[:cut])
        first = step(file)
        with file.open("ab") as rest:
            rest.write(SMALL[cut:])
        second = step(file, first.cursor)
        assert first.events + second.events == whole.events, cut
        assert first.problems + second.problems == whole.problems, cut
        assert second.cursor == whole.cursor


def test_a_file_that_grows_byte_by_byte_is_followed_alike(file: Path) -> None:
    file.write_bytes(SMALL)
    whole = step(file)
    file.write_bytes(b"")
    events: list[Event] = []
    cursor = None
    with file.open("ab", buffering=0) as growing:
        for byte in SMALL:
            growing.write(bytes([byte]))
            found = step(file, cursor)
            events, cursor = events + found.events, found.cursor
    assert events == whole.events
    assert cursor == whole.cursor


@pytest.mark.parametrize("max_bytes", [0, 1, 100, 300, 10_000, 1 << 30])
def test_steps_of_any_size_give_the_same(recorded: Path, max_bytes: int) -> None:
    whole = step(recorded)
    events, problems, steps = in_steps(recorded, max_bytes)
    assert (events, problems) == (whole.events, whole.problems)
    assert steps == 1 or max_bytes < recorded.stat().st_size


def test_a_step_reads_no_more_than_it_may(recorded: Path) -> None:
    found = step(recorded, max_bytes=20_000)
    assert found.more
    assert found.cursor is not None
    assert 0 < found.cursor.offset <= 20_000


def test_a_line_larger_than_a_step_is_still_read(file: Path) -> None:
    file.write_bytes(user("x" * 5_000) + user("after"))
    first = step(file, max_bytes=100)
    assert [len(event.text) for event in first.events] == [5_000]
    assert first.more


def test_a_half_written_line_waits(file: Path) -> None:
    file.write_bytes(user("a") + user("b")[:-1])
    first = step(file)
    assert [event.text for event in first.events] == ["a"]
    assert (first.more, first.problems) == (False, [])
    with file.open("ab") as rest:
        rest.write(b"\n")
    assert [event.text for event in step(file, first.cursor).events] == ["b"]


BAD_LINES: dict[str, tuple[bytes, str]] = {
    "not json": (b"hello", "not JSON"),
    "an array": (b"[1]", "an object was expected, found list"),
    "a number": (b"7", "an object was expected, found int"),
    "cut": (user("b")[:-5], "not JSON"),
    "zeros after a crash": (b"\x00" * 4_096, "not JSON"),
    "deep": (b'{"type":"user","message":' + b"[" * 200_000, "nested too deeply"),
    "a long number": (b'{"type":"user","n":' + b"9" * 5_000 + b"}", "too many digits"),
    "two glued": (user("b")[:-1] + user("c")[:-1], "not JSON"),
}


@pytest.mark.parametrize(("line", "reason"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_told_with_its_place_and_passed(file: Path, line: bytes, reason: str) -> None:
    before = user("a")
    file.write_bytes(before + line + b"\n" + user("z"))
    found = step(file)
    assert [event.text for event in found.events] == ["a", "z"]
    (problem,) = found.problems
    assert (problem.path, problem.start, problem.end) == (str(file), len(before), len(before) + len(line) + 1)
    assert reason in problem.reason


DIRTY_LINES: dict[str, tuple[bytes, list[str]]] = {
    "invalid utf-8": (user("a").replace(b'"a"', b'"a\xff"'), ["a\ufffd"]),
    "lone surrogate": (user("a").replace(b'"a"', b'"a\\ud800"'), ["a\ufffd\ufffd\ufffd"]),
    "nul": (user("a").replace(b'"a"', b'"a\x00"'), ["a\ufffd"]),
    "bom": (b"\xef\xbb\xbf" + user("a"), ["a"]),
    "cr": (user("a")[:-1] + b"\r\n", ["a"]),
    "blank lines": (b"\n \n\t\r\n" + user("a"), ["a"]),
    "line separator in a text": (user("a\u2028b\u0085c"), ["a\u2028b\u0085c"]),
}


@pytest.mark.parametrize(("line", "texts"), DIRTY_LINES.values(), ids=DIRTY_LINES.keys())
def test_a_dirty_line_is_read(file: Path, line: bytes, texts: list[str]) -> None:
    file.write_bytes(line)
    found = step(file)
    assert ([event.text for event in found.events], found.problems) == (texts, [])
    assert found.cursor is not None
    assert found.cursor.offset == len(line)


def test_a_line_beyond_the_limit_is_kept_in_part(file: Path) -> None:
    for write in (user, assistant):
        line = write("x" * (MAX_LINE_BYTES + 100_000))
        file.write_bytes(line + user("after"))
        cut, after = step(file, max_bytes=1 << 30).events
        assert cut.text.startswith("xxx")
        assert cut.role == ("user" if write is user else "assistant")
        assert cut.session == "s"
        assert cut.detail == {"cut": len(line) - 1 - HEAD_BYTES}
        assert cut.source is not None
        assert (cut.source.start, cut.source.end) == (0, len(line))
        assert after.text == "after"


def test_a_cut_line_has_the_id_of_the_whole_one(file: Path) -> None:
    file.write_bytes(user("y" * MAX_LINE_BYTES))
    (cut,) = step(file).events
    file.write_bytes(user("y" * 10_000))
    (whole,) = step(file).events
    assert cut.id == whole.id


def test_a_line_at_the_limit_is_read_whole(file: Path) -> None:
    around = len(user("")) - 1
    for length, is_cut in ((MAX_LINE_BYTES, False), (MAX_LINE_BYTES + 1, True)):
        file.write_bytes(user("x" * (length - around)))
        (event,) = step(file).events
        assert ("cut" in event.detail) is is_cut


def test_a_long_line_that_does_not_say_what_it_is_is_a_problem(file: Path) -> None:
    file.write_bytes(b'{"blob":"' + b"x" * (MAX_LINE_BYTES + 1) + b'","type":"user"}\n' + user("after"))
    found = step(file, max_bytes=1 << 30)
    assert [event.text for event in found.events] == ["after"]
    assert [problem.reason for problem in found.problems] == ["too long, and cut before it said what it is"]


def test_long_bookkeeping_is_no_problem(file: Path) -> None:
    file.write_bytes(b'{"type":"api-request-blob","blob":"' + b"x" * (MAX_LINE_BYTES + 1) + b'"}\n')
    found = step(file)
    assert (found.events, found.problems) == ([], [])


def memory_of_following(file: Path) -> tuple[int, int]:
    """Events found, and megabytes a fresh process needed at most, interpreter included."""
    program = (
        "import sys, pathlib\n"
        "from hindbrain.capture.transcript import follow\n"
        "path, cursor, more, count = pathlib.Path(sys.argv[1]), None, True, 0\n"
        "while more:\n"
        "    found = follow(str(path), [path.parent], cursor, now_ms=1)\n"
        "    cursor, more, count = found.cursor, found.more, count + len(found.events)\n"
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(count, [line.split()[1] for line in status.splitlines() if line.startswith('VmHWM')][0])\n"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    command = [sys.executable, "-c", program, str(file)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    events, kilobytes = map(int, done.stdout.split())
    return events, kilobytes // 1024


needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read memory use from")


@needs_proc
def test_a_line_of_fifty_megabytes_needs_little_memory(file: Path) -> None:
    with file.open("wb") as big:
        big.write(b'{"type":"user","message":{"content":"')
        for _ in range(50):
            big.write(b"x" * 1_000_000)
        big.write(b'"}}\n' + user("after"))
    events, megabytes = memory_of_following(file)
    assert events == 2
    assert megabytes < 100


@needs_proc
def test_a_line_of_countless_tiny_values_needs_little_memory(file: Path) -> None:
    file.write_bytes(b'{"type":"user","message":{"content":[' + b"{}," * 5_000_000 + b"{}]}}\n" + user("after"))
    events, megabytes = memory_of_following(file)
    assert events > 1
    assert megabytes < 100


@needs_proc
@pytest.mark.slow
def test_a_gigabyte_of_nothing_needs_little_memory(file: Path) -> None:
    with file.open("wb") as big:
        big.truncate(1 << 30)
        big.seek(1 << 30)
        big.write(b"\n" + user("after"))
    events, megabytes = memory_of_following(file)
    assert events == 1
    assert megabytes < 100


def test_a_file_that_is_not_there_is_no_error(file: Path) -> None:
    assert step(file) == Followed([], None, [])
    file.write_bytes(SMALL)
    cursor = step(file).cursor
    file.unlink()
    assert step(file, cursor) == Followed([], cursor, [])
    file.parent.rmdir()
    assert step(file, cursor) == Followed([], cursor, [])


def test_an_empty_file_is_followed_from_its_start(file: Path) -> None:
    file.touch()
    first = step(file)
    assert (first.events, first.problems, first.more) == ([], [], False)
    file.write_bytes(user("a"))
    assert [event.text for event in step(file, first.cursor).events] == ["a"]


REPLACED = {
    "shorter": user("a"),
    "another beginning": user("b" * len(SMALL) * 2),
    "same beginning, other lines": SMALL[:300] + b" " * len(SMALL) + b"\n",
    "same lengths, other words": SMALL.replace("grüß".encode(), b"grubby"),
    "empty": b"",
}


@pytest.mark.parametrize("content", REPLACED.values(), ids=REPLACED.keys())
def test_a_replaced_file_is_read_again_from_its_start(file: Path, content: bytes) -> None:
    file.write_bytes(SMALL)
    before = step(file)
    file.write_bytes(content)
    fresh = step(file)
    again = step(file, before.cursor)
    assert again.events == fresh.events
    assert again.cursor == fresh.cursor
    assert again.problems[0].reason.startswith("the file was replaced")


def test_reading_again_from_the_start_gives_the_same_ids(recorded: Path) -> None:
    assert [event.id for event in step(recorded).events] == [event.id for event in step(recorded).events]


@pytest.mark.parametrize(
    "value",
    [None, 7, [], {}, {"offset": -1, "head": "", "head_bytes": 0, "state": {}},
     {"offset": 1, "head": "", "head_bytes": 10**9, "state": {}},
     {"offset": "1", "head": "", "head_bytes": 0, "state": {}},
     {"offset": 1, "head": "", "head_bytes": 0, "state": []}],
)  # fmt: skip
def test_a_bad_cursor_is_refused(value: Any) -> None:
    with pytest.raises(Unreadable):
        TranscriptCursor.from_json(value)


def test_lines_are_cleaned_before_they_are_read_and_only_those_that_matter(file: Path) -> None:
    seen: list[bytes] = []

    def clean(line: bytes) -> Redaction:
        seen.append(line)
        return Redaction(line.replace(b"hunter-two", b"[redacted:x]"), {"x": 1} if b"hunter-two" in line else {})

    bookkeeping = b'{"type":"api-request","x":"hunter-two"}\n'
    file.write_bytes(user("my word is hunter-two") + bookkeeping + user("plain"))
    found = step(file, clean=clean)
    assert [event.text for event in found.events] == ["my word is [redacted:x]", "plain"]
    assert [dict(event.redacted) for event in found.events] == [{"x": 1}, {}]
    assert seen == [user("my word is hunter-two")[:-1], user("plain")[:-1]]
    file.write_bytes(user("my word is [redacted:x]"))
    assert step(file).events[0].id == found.events[0].id


def test_a_line_with_a_secret_that_says_nothing_stops_nobody(file: Path) -> None:
    file.write_bytes(user("hunter-two", isMeta=True) + user("plain"))
    found = step(file, clean=lambda line: Redaction(line.replace(b"hunter-two", b"[redacted:x]"), {"x": line.count(b"hunter")}))
    assert [(event.text, dict(event.redacted)) for event in found.events] == [("plain", {})]


def test_changed_transcripts_are_main_sessions_that_are_new_or_differ(root: Path, recorded: Path) -> None:
    other = root / "-other"
    deep = recorded.with_suffix("") / "subagents"
    for folder in (other, deep):
        folder.mkdir(parents=True)
    names = ("n.jsonl", "agent-b.jsonl", "x.txt")
    for path in (*(other / name for name in names), deep / "agent-a.jsonl", root / "top.jsonl"):
        path.write_bytes(b"")
    (other / "folder.jsonl").mkdir()
    (other / "link.jsonl").symlink_to(recorded)
    (root / "linked").symlink_to(other)
    os.utime(recorded, ns=(0, 2_000_000_000))
    os.utime(other / "n.jsonl", ns=(0, 1_000_000_000))
    missing = root / "missing"

    assert transcripts_changed([root, missing], 0, {}) == [other / "n.jsonl", recorded]
    assert transcripts_changed([root], 999, {}) == [other / "n.jsonl", recorded]
    assert transcripts_changed([root], 1_000, {}) == [recorded]
    assert transcripts_changed([root], 2_000, {}) == []
    size = recorded.stat().st_size
    assert transcripts_changed([root], 0, {str(recorded): (size, 2_000_000_000)}) == [other / "n.jsonl"]
    assert recorded in transcripts_changed([root], 0, {str(recorded): (size - 1, 2_000_000_000)})
