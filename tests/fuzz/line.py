"""Random bytes, led by coverage -> anything the line format or the reader does but refuse them.

Not part of the tests: it needs `atheris` and runs until it is stopped.

    python tests/fuzz/line.py -max_total_time=600 corpus/
"""

from __future__ import annotations

import sys
from io import BytesIO

import atheris  # type: ignore[import-not-found, import-untyped, unused-ignore]

with atheris.instrument_imports():
    from hindbrain.journal.line import HOOK, BadLine, frame, parse
    from hindbrain.journal.read import Record, read_stream


def one(data: bytes) -> None:
    try:
        parse(data)
    except BadLine:
        pass
    behind = frame(HOOK, b"fuzz", 1, b"the line behind")
    items = list(read_stream(BytesIO(data + behind), "s", 0, final=True))
    last = items[-1]
    assert isinstance(last, Record) and last.line.payload == b"the line behind"
    assert all(item.start < item.end for item in items)
    assert parse(frame(HOOK, data, 1, data, {"m": data})[1:-1]).payload == data


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
