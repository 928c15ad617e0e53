"""Pages made from talk are Markdown that somebody else's linter finds nothing wrong with, and every link leads somewhere."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pymarkdown.api import PyMarkdownApi

from hindbrain import Memory
from hindbrain.base import config
from hindbrain.serve.wikis import Wiki
from hindbrain.wiki.compile import Options

STORIES = sorted((Path(__file__).parents[1] / "reason" / "corpus" / "tune_a").glob("*.json"))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Wiki:
    """The wiki of a home in which several projects were talked about in three languages."""
    home = tmp_path_factory.mktemp("talk") / "home"
    with Memory.open(home=home) as memory:
        for path in STORIES:
            record(memory, json.loads(path.read_text(encoding="utf-8")))
        memory.settle(timeout=300)
    wiki = Wiki.of(config.load(str(home), environ={}))
    wiki.compile(Options())
    return wiki


def record(memory: Memory, story: dict[str, Any]) -> None:
    for session in story["sessions"]:
        at = datetime.fromisoformat(session["started"])
        for turn in session["turns"]:
            at += timedelta(seconds=40)
            if turn["role"] in ("user", "assistant") and turn.get("text"):
                memory.record(
                    agent=session["agent"], session=f"{story['story']} {session['session']}", role=turn["role"],
                    text=turn["text"], at=at, project=story["project"], key=turn["key"],
                )  # fmt: skip


def linted(root: Path) -> list[str]:
    """What the linter finds. A statement is one line, however long; the title stands in the front matter and as a heading, as
    Obsidian has it; and the same parts stand under each session of a day."""
    linter = PyMarkdownApi().enable_extension_by_identifier("front-matter").disable_rule_by_identifier("md013")
    linter = linter.disable_rule_by_identifier("md025").set_boolean_property("plugins.md024.siblings_only", True)
    found = linter.scan_path(str(root), recurse_if_directory=True)
    assert found.critical_errors == [] and found.pragma_errors == []
    return [f"{each.scan_file}:{each.line_number} {each.rule_id} {each.extra_error_information}" for each in found.scan_failures]


def test_a_linter_finds_nothing_wrong_with_the_pages(compiled: Wiki) -> None:
    pages = list(compiled.folder.root.rglob("*.md"))
    assert len(pages) > 40
    assert linted(compiled.folder.root) == []


def test_the_linter_would_find_something(compiled: Wiki, tmp_path: Path) -> None:
    page = (compiled.folder.root / "index.md").read_text(encoding="utf-8")
    (tmp_path / "index.md").write_text(page.replace("\n\n## ", "\n## ", 1), encoding="utf-8")
    assert {line.split()[1] for line in linted(tmp_path)} == {"MD022"}


def test_every_link_of_the_pages_leads_somewhere(compiled: Wiki) -> None:
    assert [each for each in compiled.findings() if each.severity == "error" or "broken" in each.code] == []
