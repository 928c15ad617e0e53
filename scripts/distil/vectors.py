"""Pieces and tokens -> what both teachers say of them, kept in a file: this is the slow part, a quarter of an hour on one core.

    python -m scripts.distil.vectors --data longmemeval_oracle_dev.json.gz --out vectors.npz
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from scripts.distil import teachers, text

SEED: Final = 7


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path, required=True, help="longmemeval_oracle_dev.json.gz")
    asked.add_argument("--out", type=Path, required=True, help="the file to write")
    given = asked.parse_args()
    torch.set_num_threads(1)
    pieces = text.pieces(given.data, SEED)
    tokens = teachers.minilm_vocabulary()
    found: dict[str, Any] = {}
    for teacher in (teachers.minilm(), teachers.granite()):
        short = teacher.key
        found[f"{short}_tokens"] = teacher.tokens(tokens).astype(np.float16)
        print(f"{teacher.name}: {len(tokens)} tokens", file=sys.stderr, flush=True)
        found[f"{short}_pieces"] = teacher.sentences(pieces).astype(np.float16)
        print(f"{teacher.name}: {len(pieces)} pieces", file=sys.stderr, flush=True)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(given.out, pieces=np.array(pieces), tokens=np.array(tokens), **found)


if __name__ == "__main__":
    main()
