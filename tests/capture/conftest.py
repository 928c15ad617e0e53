"""The recorded run of a real client, as its hooks and its transcript told it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

FIXTURES = Path(__file__).parent.parent / "fixtures"
SESSION = "0593e155-b28d-4d26-8770-a0270c1c0e4d"


@pytest.fixture(scope="session")
def hooks() -> dict[str, dict[str, Any]]:
    """One payload per hook event."""
    recorded = json.loads((FIXTURES / "claude_hooks.json").read_bytes())
    return {event: entry["stdin"] for event, entry in recorded.items()}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder under which the client keeps its transcripts, with the recorded one in it."""
    folder = tmp_path / "projects"
    (folder / "-home-dev-proj").mkdir(parents=True)
    shutil.copy(FIXTURES / "claude_transcript.jsonl", folder / "-home-dev-proj" / f"{SESSION}.jsonl")
    return folder


@pytest.fixture
def recorded(root: Path) -> Path:
    """The recorded transcript in its place."""
    return root / "-home-dev-proj" / f"{SESSION}.jsonl"
