"""A payload and its header -> one line and back, for any bytes."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain.journal.line import EVENT, HOOK, BadLine, frame, parse

META_NAMES = st.text(alphabet="abcdefghijklmnopqrstuvwyz", min_size=1, max_size=6)  # x is the line's own


@settings(max_examples=500, deadline=None)
@given(
    kind=st.sampled_from([HOOK, EVENT]), agent=st.binary(max_size=64), at_ns=st.integers(-(2**63), 2**63),
    payload=st.binary(max_size=400), meta=st.dictionaries(META_NAMES, st.binary(max_size=40), max_size=4),
)  # fmt: skip
@example(kind=HOOK, agent=b"-", at_ns=0, payload=b"", meta={})
@example(kind=HOOK, agent=b"", at_ns=0, payload=b"%0A\n%25\r\x00", meta={"d": b"-", "e": b""})
@example(kind=HOOK, agent=b"a b\nc&d=e%", at_ns=-1, payload=b"\n", meta={"t": b"a&x=1"})
def test_any_payload_comes_back_as_it_went_in(
    kind: str, agent: bytes, at_ns: int, payload: bytes, meta: dict[str, bytes]
) -> None:
    framed = frame(kind, agent, at_ns, payload, meta)
    assert framed.startswith(b"\n") and framed.endswith(b"\n")
    assert b"\n" not in framed[1:-1]
    line = parse(framed[1:-1])
    assert (line.kind, line.at_ns, line.payload) == (kind, at_ns, payload)
    assert line.agent == agent.decode("utf-8", "replace")
    assert line.meta == {name: value.decode("utf-8", "replace") for name, value in meta.items()}


@settings(max_examples=500, deadline=None)
@given(st.binary(max_size=200))
def test_any_other_bytes_are_a_bad_line_and_nothing_worse(line: bytes) -> None:
    with pytest.raises(BadLine):
        parse(line)


@settings(max_examples=500, deadline=None)
@given(body=st.binary(max_size=120))
@example(body=b"hook a 9 - ")
@example(body=b"hook %zz 9 - x")
@example(body=b"hook %-1 9 - x")
@example(body=b"hook a " + b"9" * 5000 + b" - x")
@example(body=b"h\xff a 1 - x")
@example(body=b"hook a 1 \xff=1 x")
@example(body=b"hook a 1 = x")
def test_a_body_with_a_right_checksum_parses_or_is_a_bad_line(body: bytes) -> None:
    line = b"H1 %08x %d %s" % (zlib.crc32(body), len(body), body)
    try:
        parse(line)
    except BadLine as bad:
        assert not bad.torn


@settings(max_examples=300, deadline=None)
@given(payload=st.binary(max_size=100), where=st.integers(0, 10_000), bit=st.integers(0, 7))
def test_a_line_with_one_flipped_bit_is_never_taken_for_good(payload: bytes, where: int, bit: int) -> None:
    line = bytearray(frame(HOOK, b"claude-code", 1, payload)[1:-1])
    line[where % len(line)] ^= 1 << bit
    with pytest.raises(BadLine):
        parse(bytes(line))


def test_every_beginning_of_a_line_is_known_as_torn() -> None:
    line = frame(HOOK, b"claude-code", 1, b"payload")[1:-1]
    found = []
    for length in range(1, len(line)):
        with pytest.raises(BadLine) as caught:
            parse(line[:length])
        found.append(caught.value.torn)
    # cut inside the length, the number that is left says more than is there, or the body has not begun
    assert all(found)
