"""The index of lists for very many vectors: nearly the same answers as a scan, and used only when it is whole. Needs faiss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hindbrain.recall import bitfile, lists
from hindbrain.recall.bitfile import Signs
from hindbrain.recall.matrix import ALWAYS, Matrix, signs

pytest.importorskip("faiss", reason="not run: the extra faiss is not installed")

MODEL = "test:32"


def clustered(rows: int = 6000) -> Signs:
    draw = np.random.default_rng(5)
    around = draw.integers(-80, 81, (60, 32))[np.arange(rows) % 60]
    numbers = (around + draw.integers(-40, 41, (rows, 32))).astype(np.int8)
    words = np.ascontiguousarray(signs(numbers).view("<u8").T)
    whole = np.arange(rows, dtype="<i8")
    return Signs(whole + 1, whole, words, np.zeros(rows, "<i4"), ["a"], np.zeros((rows, 256), np.int8))


def test_lists_find_nearly_what_a_scan_finds_and_are_refused_when_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = clustered()
    plain = Matrix(tmp_path / "vectors-x.bits", MODEL, 32)
    plain._begin_with(whole)
    monkeypatch.setattr(lists, "ROWS", 1000)
    matrix = Matrix(tmp_path / "vectors-x.bits", MODEL, 32)
    matrix._begin_with(lists.first(whole, 5000))
    matrix._write(lists.first(whole, 5000))
    assert matrix._now.lists is not None and matrix._now.lists[1] == 5000
    matrix._now = matrix._now._replace(tail=lists.behind(whole, 5000))
    shares = []
    for place in range(0, 6000, 300):
        bits = np.ascontiguousarray(whole.words[:, place]).tobytes()
        one, other = (set(each.nearest(bits, None, -ALWAYS, ALWAYS, 50)) for each in (plain, matrix))
        shares.append(len(one & other) / 50)
        assert place + 1 in other
        assert matrix.nearest(bits, ["a"], -ALWAYS, ALWAYS, 50) == plain.nearest(bits, ["a"], -ALWAYS, ALWAYS, 50)
    assert sum(shares) / len(shares) > 0.8
    found = bitfile.load(matrix.path, MODEL, 32)
    assert lists.load(matrix.path, found) is not None
    assert lists.load(matrix.path, found._replace(ids=found.ids + 1)) is None
    path = lists.path_of(matrix.path)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert lists.load(matrix.path, found) is None
    path.write_bytes(b"")
    assert lists.load(matrix.path, found) is None
