"""Every example runs by itself, on a home of its own, and says what its reader is promised."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.frameworks import need

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SAYS = {
    "remember": [
        "found: The staging database listens on port 5433.", "known: True", "corrected: ['Cages are mauve']",
        "decision, user: Cages are mauve",
    ],
    "async_subscriber": ["new: The port is 5433", "new: Cages are turquoise"],
    "team": [
        "task: Write the migration (bob)", "decision: Cages are turquoise (user)", "fact: Staging listens on 5433 (ada)",
        "ada to bob: the migration waits for you", "fact, assistant ada: Staging listens on 5433",
    ],
    "conversation": ["I do not know.", "It is 5433."],
    "pydantic_ai_history": ["I was told 1 messages.", "I was told 3 messages."],
    "langgraph_store": ["I do not know.", "Staging listens on 5433"],
    "openai_agents_session": ["[{'content': 'Staging listens on 5433.', 'role': 'user'}]", "['Staging listens on 5433.']"],
    "llama_index_memory": ["True", "True"],
}  # fmt: skip
FRAMEWORKS = {"langgraph_store": "langgraph.graph", "openai_agents_session": "agents", "llama_index_memory": "llama_index.core"}


def test_every_example_is_run() -> None:
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", SAYS)
def test_an_example_says_what_is_promised(name: str, tmp_path: Path) -> None:
    if name in FRAMEWORKS:
        need(FRAMEWORKS[name])
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), str(tmp_path / "home")], capture_output=True, text=True, env=environ,
        check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()) == (0, SAYS[name]), done.stderr
