"""An event's id is the same in every program that reads its line, and ids of one session lie together."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hindbrain.capture import hook
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import EVENT_VERSION, SESSION_DIGITS, BadEvent, Event, decode, encode, session_id
from hindbrain.journal.line import EVENT, HOOK, frame, parse
from hindbrain.journal.read import Record
from tests.ledger.making import event

# Lines as the first version wrote them, each with the id it gave.
FIRST = {
    b'H1 099df090 313 event claude-code 1794765053000000000 - {"v":1,"kind":"turn","agent":"claude-code","session":'
    b'"0593e155-b28d-4d26-8770-a0270c1c0e4d","at":1794765053000,"key":"prompt:f7bbb700:0a1b2c3d4e5f6071","origin":"transcript",'
    b'"role":"user","text":"use tabs, not spaces","cwd":"/home/dev/proj","source":["/t/s.jsonl",120,480]}':
        "e_9e266767d02e550309c884b5",
    b'H1 9e0cb489 165 event claude-code 7000000 - {"v":1,"kind":"session_end","agent":"claude-code","session":"s1","at":7,"key":'
    b'"SessionEnd:7","origin":"hook","detail":{"reason":"clear"}}': "e_af390fd3fc6b45bce1785328",
    b'H1 9d37625b 174 hook claude-code 1794765053000000000 d=/home/dev/.claude {"session_id": "s1", "hook_event_name": '
    b'"UserPromptSubmit", "prompt_id": "p1", "prompt": "find the bug", "cwd": "/p"}': "e_9c8db5ea2f643a4f4dfea6a8",
    b"H1 9d4a5c34 29 hook claude-code 5 - not json": "e_626b2b4b4eea8ca79c453d2f",
    b'H1 58e10f27 43 event claude-code 5 - {"v":1,"kind":"nope"}': "e_f673c7a1cf65137c35cd6665",
}  # fmt: skip
# The same of this version; a change of the formula is a new version.
SECOND = {
    frame(EVENT, b"a", 5, b'{"v":2,"kind":"turn","agent":"a","session":"s","at":1,"key":"k","origin":"api","role":"user"}'):
        "e_1ebf9533d6f7a7efd9df6aeb",
    frame(HOOK, b"claude-code", 5,
          b'{"session_id": "s1", "hook_event_name": "UserPromptSubmit", "prompt_id": "p1", "prompt": "x"}',
          {"v": b"2"}): "e_0289bae0331a7370c4089e0a",
}  # fmt: skip


def told(line: bytes) -> Event:
    (found,) = events_of(Record("segment", 0, len(line), parse(line.strip(b"\n"))))
    return found


@pytest.mark.parametrize("line", FIRST)
def test_a_line_of_the_first_version_has_the_id_it_always_had(line: bytes) -> None:
    assert (told(line).id, told(line).version) == (FIRST[line], 1)


@pytest.mark.parametrize("line", SECOND)
def test_a_line_of_the_second_version_has_the_id_it_always_will(line: bytes) -> None:
    assert (told(line).id, told(line).version) == (SECOND[line], 2)


@pytest.mark.parametrize("version", [1, 2])
def test_an_event_is_written_and_read_in_its_own_version(version: int) -> None:
    given = event(version=version)
    assert json.loads(encode(given))["v"] == version
    assert (decode(encode(given)), decode(encode(given)).id) == (given, given.id)


def test_both_ids_are_known_whichever_version_it_has() -> None:
    newest, first = event(), event(version=1)
    assert newest.ids == first.ids == (newest.id, first.id)
    assert newest.id != first.id and len(newest.id) == len(first.id)


@pytest.mark.parametrize("version", [0, 3, "2", True, None, 2.0])
def test_another_version_is_refused(version: object) -> None:
    with pytest.raises(BadEvent, match="version"):
        decode(json.dumps({**json.loads(encode(event())), "v": version}).encode())


def test_ids_of_a_session_begin_like_the_session() -> None:
    ids = [event(key=str(number), role=role).id for number in range(50) for role in ("user", "assistant")]
    begins = session_id("claude-code", "s1")[2 : 2 + SESSION_DIGITS]
    assert {each[: 2 + SESSION_DIGITS] for each in ids} == {f"e_{begins}"}
    assert len(set(ids)) == 100
    assert not event(session="s2").id.startswith(f"e_{begins}")


def test_a_hundred_thousand_events_have_as_many_ids() -> None:
    plain = event()
    parts = [
        replace(plain, session=f"s{number % 200}", key=f"k{number // 2}", role="user" if number % 2 else "assistant")
        for number in range(90_000)
    ]  # fmt: skip
    one = [replace(plain, session="long", key=str(number)) for number in range(10_000)]
    assert len({each.id for each in parts + one}) == 100_000
    assert all(len(each.id) == 26 for each in parts[:10])


def test_what_tells_events_apart_is_told_apart_in_the_id() -> None:
    some = [event(), event(agent="a"), event(session="s2"), event(role="assistant"), event(key="k2"), event(kind="notice"),
            event(agent="claude-codes", session="1"), event(role="user", key="k1 "), event(kind="notice", key="")]  # fmt: skip
    assert len({each.id for each in some}) == len(some)


def test_the_hook_says_the_version_of_today() -> None:
    assert hook.VERSION == b"%d" % EVENT_VERSION


def test_a_hook_of_a_later_version_is_read_as_far_as_it_is_known() -> None:
    line = frame(HOOK, b"claude-code", 5, b'{"session_id": "s1", "hook_event_name": "SessionEnd"}', {"v": b"3"})
    assert (told(line).kind, told(line).version) == ("session_end", EVENT_VERSION)
