"""One flipped bit anywhere in a journal costs the record it hits, and the place is told (P7)."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Callable, Iterator
from io import BytesIO

from hindbrain.journal.line import BadLine, parse
from hindbrain.journal.read import Damage, Record, read_stream
from tests.journal.written import framed

RECORDS = 400
SEED = int(os.environ.get("FLIP_SEED", "20260101"))
Reader = Callable[[bytes], list[Record | Damage]]


def right_reader(data: bytes) -> list[Record | Damage]:
    return list(read_stream(BytesIO(data), "s", 0, final=True))


def stops_at_the_first_bad_line(data: bytes) -> list[Record | Damage]:
    """What most readers of logs do."""
    found: list[Record | Damage] = []
    for item in right_reader(data):
        found.append(item)
        if isinstance(item, Damage):
            break
    return found


def passes_over_in_silence(data: bytes) -> list[Record | Damage]:
    return [item for item in right_reader(data) if isinstance(item, Record)]


def trusts_the_checksum_of_nobody(data: bytes) -> list[Record | Damage]:
    """Takes a line's fields without looking at its checksum."""
    found: list[Record | Damage] = []
    for item in right_reader(data):
        if isinstance(item, Damage) and item.reason == "checksum does not match":
            body = item.copy.split(b" ", 3)[3]
            found.append(Record("s", item.start, item.end, parse(framed_again(body))))
        else:
            found.append(item)
    return found


def framed_again(body: bytes) -> bytes:
    return b"H1 %08x %d %s" % (zlib.crc32(body), len(body), body)


def flips(data: bytes, times: int) -> Iterator[tuple[int, int]]:
    source = random.Random(SEED)
    for _ in range(times):
        yield source.randrange(len(data)), 1 << source.randrange(8)


def problems(data: bytes, reader: Reader, times: int) -> list[str]:
    """What one flipped bit may not do, over many places."""
    whole = {item.start: item.line.payload for item in reader(data) if isinstance(item, Record)}
    found = []
    for offset, bit in flips(data, times):
        case = f"FLIP_SEED={SEED} offset {offset} bit {bit}"
        changed = bytearray(data)
        changed[offset] ^= bit
        try:
            items = reader(bytes(changed))
        except (BadLine, IndexError, ValueError) as error:
            found.append(f"{case}: {error!r}")
            continue
        kept = [item for item in items if isinstance(item, Record)]
        at_most = 2 if data[offset] == 0x0A else 1
        if len(whole) - len(kept) > at_most:
            found.append(f"{case}: {len(whole) - len(kept)} records lost")
        if any(whole.get(item.start) != item.line.payload for item in kept):
            found.append(f"{case}: a record changed")
        if len(kept) < len(whole) and not any(item.start <= offset <= item.end for item in items if isinstance(item, Damage)):
            found.append(f"{case}: the place was not told")
    return found


def journal_bytes() -> bytes:
    return b"".join(framed(number, size=60) for number in range(RECORDS))


def test_a_flipped_bit_costs_the_record_it_hits() -> None:
    data = journal_bytes()
    assert len(right_reader(data)) == RECORDS
    assert problems(data, right_reader, 2000) == []


def test_every_bit_of_one_record_and_its_neighbours_is_covered() -> None:
    data = b"".join(framed(number, size=20) for number in range(3))
    for offset in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[offset] ^= 1 << bit
            items = right_reader(bytes(changed))
            assert sum(isinstance(item, Record) for item in items) >= 2, (offset, bit)


def test_the_check_finds_a_reader_that_stops_at_the_first_bad_line() -> None:
    assert any("records lost" in problem for problem in problems(journal_bytes(), stops_at_the_first_bad_line, 100))


def test_the_check_finds_a_reader_that_passes_over_damage_in_silence() -> None:
    assert any("place was not told" in problem for problem in problems(journal_bytes(), passes_over_in_silence, 100))


def test_the_check_finds_a_reader_that_trusts_a_wrong_checksum() -> None:
    assert any("a record changed" in problem for problem in problems(journal_bytes(), trusts_the_checksum_of_nobody, 100))
