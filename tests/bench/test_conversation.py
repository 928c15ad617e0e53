"""The measurement of a turn runs and says what it promises to say."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_the_last_line_tells_what_a_turn_costs_and_how_that_grows(tmp_path: Path) -> None:
    argv = [sys.executable, "bench/conversation.py", "--turns", "200", "--rounds", "3", "--place", str(tmp_path)]
    ran = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=120, check=True)
    told = json.loads(ran.stdout.splitlines()[-1])
    assert list(told) == ["record_ms", "format_ms", "format_10k_turns_ms", "ratio_10k"]
    assert all(value > 0 for value in told.values())
    assert list(tmp_path.iterdir()) == []
