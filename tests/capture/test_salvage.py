"""Bytes that are not quite JSON give what can be known, or one kind of error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hindbrain.capture.event import Json, storable
from hindbrain.capture.salvage import MAX_DEPTH, Unreadable, loads, loads_cut

ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def is_prefix(part: Json, whole: Json) -> bool:
    """Whether part is whole with only its end missing: every value before the cut is the real one."""
    if isinstance(part, dict) and isinstance(whole, dict):
        keys = list(part)
        if keys != list(whole)[: len(keys)] or any(part[key] != whole[key] for key in keys[:-1]):
            return False
        return not keys or is_prefix(part[keys[-1]], whole[keys[-1]])
    if isinstance(part, list) and isinstance(whole, list):
        if len(part) > len(whole) or part[:-1] != whole[: max(len(part) - 1, 0)]:
            return False
        return not part or is_prefix(part[-1], whole[len(part) - 1])
    if isinstance(part, str) and isinstance(whole, str):
        return whole.startswith(part)
    return type(part) is type(whole) and part == whole


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b'\xef\xbb\xbf{"a":1}\r\n', {"a": 1}),
        (b'{"a":"\xff\xfe"}', {"a": "\ufffd\ufffd"}),
        (b'{"a":"x\x00y\ty"}', {"a": "x\x00y\ty"}),
        (b'{"a":1}\x00\x00\x00', {"a": 1}),
        (b'{"a":"\\ud800"}', {"a": "\ud800"}),
        (b'{"a":1,"a":2}', {"a": 2}),
        ("{\"a\":\"\u2028\U0001f600\"}".encode(), {"a": "\u2028\U0001f600"}),
    ],
)
def test_dirty_json_is_read(data: bytes, value: Json) -> None:
    assert loads(data) == value


@pytest.mark.parametrize(
    "data",
    [
        b"", b" ", b"\x00", b"\xef\xbb\xbf", b"hello", b"{", b'{"a":1}}', b'{"a":1} {"b":2}', b"[1,]",
        b"\xff\xfe{\x00}\x00", b"[" * 200_000, b'{"a":' * 200_000, b"1" * 5_000, b'{"a":[' + b"9" * 5_000 + b"]}",
    ],
    ids=lambda data: f"{len(data)} bytes {data[:8]!r}",
)  # fmt: skip
def test_everything_unreadable_is_one_error(data: bytes) -> None:
    with pytest.raises(Unreadable):
        loads(data)


def test_the_error_never_quotes_the_bytes() -> None:
    with pytest.raises(Unreadable) as caught:
        loads(b'{"password": hunter-two}')
    assert "hunter" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b'{"a":1}', {"a": 1}),
        (b"{", {}),
        (b"[", []),
        (b'{"a', {}),
        (b'{"a"', {}),
        (b'{"a":', {}),
        (b'{"a":tru', {}),
        (b'{"a":12', {}),
        (b'{"a":12,', {"a": 12}),
        (b'{"a":12 ', {"a": 12}),
        (b'{"a":-', {}),
        (b'{"a":"x', {"a": "x"}),
        (b'{"a":"', {"a": ""}),
        (b'{"a":"x\\', {"a": "x"}),
        (b'{"a":"x\\\\', {"a": "x\\"}),
        (b'{"a":"x\\"', {"a": 'x"'}),
        (b'{"a":"x\\u', {"a": "x"}),
        (b'{"a":"x\\u00e', {"a": "x"}),
        (b'{"a":"x\\u00e9', {"a": "x\u00e9"}),
        (b'{"a":"x\\ud83d', {"a": "x"}),
        (b'{"a":"x\\ud83d\\ude', {"a": "x"}),
        (b'{"a":"x\\ud83d\\ude00', {"a": "x\U0001f600"}),
        (b'{"a":"x\\\\ud83d', {"a": "x\\ud83d"}),
        (b'{"a":"x\xf0\x9f\x98', {"a": "x"}),
        (b'{"a":"x\xc3', {"a": "x"}),
        (b'{"a":[1,2', {"a": [1]}),
        (b'{"a":[1,{"b":"c"},', {"a": [1, {"b": "c"}]}),
        (b'{"a":{"b":{"c":[[', {"a": {"b": {"c": [[]]}}}),
        (b'{"a":1,"b', {"a": 1}),
        (b'["{[\\"", "]}', ['{["', "]}"]),
        (b'\xef\xbb\xbf {"a":"x', {"a": "x"}),
    ],
)
def test_a_cut_text_is_closed_where_it_stops(data: bytes, value: Json) -> None:
    assert loads_cut(data) == value


@pytest.mark.parametrize(
    "data",
    [
        b"", b"   ", b"hello", b"tru", b'{"a":1]', b"]", b'{"a":"\\u12zz","b', b'{"a" 1 "b"', b"[" * (MAX_DEPTH + 1),
        b'{"a":1}{"b',
    ],
)  # fmt: skip
def test_what_is_not_the_beginning_of_json_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        loads_cut(data)


def test_every_cut_of_every_recorded_payload_is_a_prefix_of_it(hooks: dict[str, dict[str, Any]]) -> None:
    for payload in hooks.values():
        whole = json.dumps(payload).encode()
        for cut in range(1, len(whole)):
            part = loads_cut(whole[:cut])
            assert is_prefix(part, payload), (cut, part)
            assert isinstance(part, dict)
            seen = whole[:cut].count(b'"session_id": "' + payload["session_id"].encode() + b'"')
            assert not seen or part["session_id"] == payload["session_id"]


def test_every_cut_of_a_recorded_line_with_escapes_is_a_prefix_of_it(recorded: Path) -> None:
    line = max(recorded.read_bytes().splitlines()[:40], key=lambda one: one.count(b"\\"))
    whole = json.loads(line)
    for cut in range(1, len(line)):
        assert is_prefix(loads_cut(line[:cut]), whole)


@given(ANY_JSON, st.booleans(), st.data())
@example({"": "\U0001f600\\\"\u00e9"}, True, None)
def test_any_cut_of_any_json_is_a_prefix_or_unreadable(value: Json, escaped: bool, data: st.DataObject | None) -> None:
    text = json.dumps(value, ensure_ascii=escaped)
    whole = text.encode("utf-8", "surrogatepass")
    cuts = range(len(whole) + 1) if data is None else [data.draw(st.integers(0, len(whole)))]
    for cut in cuts:
        try:
            part = loads_cut(whole[:cut])
        except Unreadable:
            # Nothing is known of a value before its first bracket or quote.
            assert not whole[:cut].strip().startswith((b"{", b"[", b'"'))
            continue
        if isinstance(value, (dict, list, str)):
            assert is_prefix(part, json.loads(storable(text) if not escaped else text))


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    for read in (loads, loads_cut):
        try:
            read(data)
        except Unreadable:
            pass
