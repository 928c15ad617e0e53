"""Links: what is one, what it means, and that none leads out of the wiki."""

from __future__ import annotations

import random
import unicodedata

import pytest
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from hindbrain.wiki.links import Resolved, Wiki
from hindbrain.wiki.outline import WIKILINK, outline

PAGES = {
    "concepts/postgresql.md":
        "---\nid: c-1\ntitle: PostgreSQL\naliases: [Postgres, PG]\n---\n\n# PostgreSQL\n\n## Key points: all\n\n- One. ^m-5b1c\n",
    "concepts/straße.md": "# Große Straße\n",
    "daily/2026-03-02.md": "# 2026-03-02\n\n## 14:05 claude-code in api-server (main) ^s-1a2b3c4d\n\ntext\n",
    "qa/which.md": "# Which one?\n",
}  # fmt: skip


def found(text: str) -> list[tuple[str, str, str, bool]]:
    return [(link.target, link.part, link.alias, link.embed) for link in outline(text).links]


def led(link: str, page: str = "qa/which.md") -> Resolved:
    wiki = Wiki(PAGES | {page: PAGES[page] + f"\n{link}\n"})
    return wiki.links[page][-1][1]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[a]]", ("a", "", "", False)), ("[[a|b c]]", ("a", "", "b c", False)), ("[[a#b]]", ("a", "b", "", False)),
        ("[[a#^m-1|b]]", ("a", "^m-1", "b", False)), ("![[a]]", ("a", "", "", True)), ("[[#b]]", ("", "b", "", False)),
        ("x [[ a | b ]] y", ("a", "", "b", False)), ("| [[a\\|b]] |", ("a", "", "b", False)), ("# [[a]]", ("a", "", "", False)),
        ("[[a|with `code` in it]]", ("a", "", "with `code` in it", False)), ("[[a|x \\] y]]", ("a", "", "x \\] y", False)),
    ],
)  # fmt: skip
def test_every_form_of_a_link_is_read(text: str, expected: tuple[str, str, str, bool]) -> None:
    assert found(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "`[[a]]`", "``x ` [[a]]``", "`[[a\n]] [[b]]`", "```\n[[a]]\n```", "~~~md\n[[a]]\n~~~~", "```\n[[a]]", "    [[a]]",
        "- x\n\n  ```\n  [[a]]\n  ```", "> ```\n> [[a]]\n> ```", "\\[[a]]", "\\[\\[a]]", "[[]]", "[[a\nb]]", "[a]", "[[a]",
        "---\nx: [[a]]\n---\n", "\ufeff---\nx: [[a]]\n---\n", "---\r\nx: [[a]]\r\n---\r\n", "[\\[a]]", "-     [[a]]",
    ],
)  # fmt: skip
def test_code_front_matter_and_what_is_escaped_hold_no_links(text: str) -> None:
    assert found(text) == []


def test_places_are_those_of_the_file() -> None:
    text = "---\r\nid: x\r\n---\r\n\r\n# T\r\n\r\na `b` [[one]] and\r\n![[two]]\r\n"
    lines = text.split("\r\n")
    written = [(link.line, lines[link.line - 1][link.start : link.end]) for link in outline(text).links]
    assert written == [(7, "[[one]]"), (8, "![[two]]")]


def test_what_is_code_is_what_a_markdown_parser_takes_for_code() -> None:
    parser = MarkdownIt("commonmark", {"html": False})
    parser.inline.ruler.before("link", "wikilink", _rule)
    pieces = ["[[a]]", "![[b#^m-1]]", "`", "``", "```", "~~~", "\\", "\n- ", "    ", "\n> ", "\n", "\n\n", "x", "\n# ",
              "\n1. ", "word", "[", "]", "\n```\n", "`c` "]  # fmt: skip
    for seed in range(3_000):
        chosen = random.Random(seed)
        text = "x" + "".join(chosen.choices(pieces, k=chosen.randint(1, 10)))
        parsed = [child.content for token in parser.parse(text) for child in token.children or [] if child.type == "wikilink"]
        lines = text.split("\n")
        assert [lines[link.line - 1][link.start : link.end] for link in outline(text).links] == parsed, (seed, text)


def _rule(state: StateInline, silent: bool) -> bool:
    match = WIKILINK.match(state.src, state.pos)
    if match is None or match.end() > state.posMax:
        return False
    if not silent:
        state.push("wikilink", "", 0).content = match[0]
    state.pos = match.end()
    return True


@pytest.mark.parametrize(
    ("link", "path"),
    [
        ("[[concepts/postgresql]]", "concepts/postgresql.md"), ("[[concepts/postgresql.md]]", "concepts/postgresql.md"),
        ("[[CONCEPTS/PostgreSQL.MD]]", "concepts/postgresql.md"), ("[[postgresql]]", "concepts/postgresql.md"),
        ("[[PostgreSQL|x]]", "concepts/postgresql.md"), ("[[pg]]", "concepts/postgresql.md"),
        ("[[POSTGRES]]", "concepts/postgresql.md"), ("[[Which one?]]", "qa/which.md"), ("[[große straße]]", "concepts/straße.md"),
        ("[[GROSSE STRASSE]]", "concepts/straße.md"), ("[[concepts/STRASSE]]", "concepts/straße.md"),
        (f"[[{unicodedata.normalize('NFD', 'große straße')}]]", "concepts/straße.md"), ("[[./which]]", "qa/which.md"),
        ("[[../concepts/postgresql]]", "concepts/postgresql.md"), ("[[#Which one?]]", "qa/which.md"),
        ("[[2026-03-02#^s-1a2b3c4d]]", "daily/2026-03-02.md"), ("[[daily/2026-03-02#s-1a2b3c4d]]", "daily/2026-03-02.md"),
        ("[[daily/2026-03-02#14:05 claude-code in api-server (main)]]", "daily/2026-03-02.md"),
        ("[[daily/2026-03-02#14 05 claude-code in api-server (main)]]", "daily/2026-03-02.md"),
        ("[[pg#^m-5b1c]]", "concepts/postgresql.md"), ("[[pg#key points all]]", "concepts/postgresql.md"),
        ("[[pg#PostgreSQL#Key points: all]]", "concepts/postgresql.md"),
    ],
)  # fmt: skip
def test_a_link_finds_its_page_by_path_name_title_and_alias_however_it_is_written(link: str, path: str) -> None:
    to = led(link)
    assert (to.path, to.problem) == (path, "")


@pytest.mark.parametrize(
    "link", ["[[nope]]", "[[concepts/]]", "[[concepts]]", "[[a/b/c]]", "[[%2e%2e/x]]", "[[https://x.ex]]", "[[javascript:a]]"]
)
def test_what_is_not_there_is_missing(link: str) -> None:
    assert led(link) == Resolved("", "missing")


@pytest.mark.parametrize("link", ["[[pg#nope]]", "[[pg#^m-5b1d]]", "[[#nope]]", "[[pg#]] [[pg#^]]"])
def test_a_part_that_is_not_there_is_told(link: str) -> None:
    assert led(link).problem == "part"


@pytest.mark.parametrize(
    "target",
    [
        "../../etc/passwd", "../../../x", "/etc/passwd", "\\\\host\\share", "..\\..\\x", "C:\\x", "c:/x", "~/x", "a\0b",
        "x/../../../y",
        "qa/../../../../concepts/postgresql", "\x07", "./../../x",
    ],
)  # fmt: skip
def test_no_target_leads_out_of_the_wiki(target: str) -> None:
    wiki = Wiki(PAGES | {"../../etc/passwd.md": "# secret", "qa/which.md": f"[[{target}]]"})
    assert [to for _, to in wiki.links["qa/which.md"]] == [Resolved("", "outside")]


def test_a_file_is_found_before_the_alias_of_another() -> None:
    wiki = Wiki({"concepts/a.md": "---\naliases: [b]\n---\n# A\n", "concepts/b.md": "[[b]] [[B]]"})
    assert [to.path for _, to in wiki.links["concepts/b.md"]] == ["concepts/b.md"] * 2


def test_a_link_to_itself_is_no_way_to_a_page() -> None:
    wiki = Wiki({"concepts/a.md": "[[a]] [[#x]]", "concepts/b.md": "[[a]]\n\n[[a]]"})
    back = {path: list(others) for path, others in wiki.backlinks.items()}
    assert back == {"concepts/a.md": ["concepts/b.md"], "concepts/b.md": []}
