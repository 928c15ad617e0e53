"""Facts for pages: as little as a test has to say, and any a machine can think of."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hypothesis import strategies as st

from hindbrain.wiki.page import Fact, Material, Sitting, Source

HOUR = 3_600_000
START = 1_772_440_000_000  # 2026-03-02
# Letters and pieces that mean something to Markdown, YAML, Obsidian or to us.
PIECES = [
    *"\\`*_[]<>#^~$|&%=:.()-+{};/!@\"' \t\n", "a", "1", "word", "because: ", "instead of: ", "project: ",
    "2026-01-01 to 2026-02-02", " ^m-12ab", "[[x]]",
    "](y)", "```", "~~~", "---", "- [ ] ", "1. ", "> ", "# ", "## Decisions", "<b>", "<!--", "&amp;", "https://www.a.b/c",
    "\\u{202e}", "%%", "==",
    "\x00", "\x1b", "\ud800", "\u202e", "\u2028", "\u200d", "é", "数据库", "🦖", "\ue000", "(", ")", "^", "u{41}",
]  # fmt: skip
WORDS = st.one_of(
    st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join), st.text(st.characters(), min_size=1, max_size=40),
)  # fmt: skip


def number(of: int) -> str:
    return f"{of:024x}"


def fact(of: int, text: str, kind: str = "fact", *, project: str | None = "p_1", session: int = 1, **other: object) -> Fact:
    """A fact said in a session; what else it is, by name."""
    at = START + of * HOUR
    source = Source(f"e_{number(of)}", f"s_{number(session)}", "claude-code", at, "user")
    made = Fact(
        f"m_{number(of)}", "derived", kind, text, 0.8, "user", "project", project, at, None, None, False, sources=(source,)
    )
    return replace(made, **other)  # type: ignore[arg-type]


def material(facts: Iterable[Fact], sittings: Iterable[Sitting] = (), **projects: str) -> Material:
    """With projects by id; p_1 is called api-server."""
    return Material(
        {each.id: each for each in facts}, {each.id: each for each in sittings}, {"p_1": "api-server", **projects}, ""
    )


def said(*texts: str, project: str | None = "p_1") -> Material:
    """Facts of one project, oldest first."""
    return material(fact(of, text, project=project) for of, text in enumerate(texts, 1))
