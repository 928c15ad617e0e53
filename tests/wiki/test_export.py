"""Exports: nothing a page says becomes markup, script or a request, and nothing of the wiki is lost on the way."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from hindbrain.base.errors import UnsafePath
from hindbrain.wiki import export
from tests.wiki.payloads import PAYLOADS
from tests.wiki.sample import page, sound

PG = "concepts/postgresql.md"
TAGS = {
    "html", "head", "meta", "title", "style", "body", "a", "header", "h1", "h2", "h3", "h4", "h5", "h6", "div", "input", "p",
    "nav", "section", "span", "ul", "ol", "li", "main", "article", "script", "strong", "em", "s", "code", "pre", "blockquote",
    "hr", "br", "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip
ATTRIBUTES = {
    "a": {"href", "id", "class", "title", "aria-label", "rel"}, "span": {"class"}, "code": {"class"}, "ol": {"start"},
    "article": {"id"}, **{f"h{level}": {"id"} for level in range(1, 7)}, "th": {"class"}, "td": {"class"}, "main": {"id"},
    "nav": {"aria-label"}, "p": {"class", "id", "role", "data-all"},
    "div": {"class", "role"}, "html": {"lang"}, "meta": {"charset", "http-equiv", "content", "name"},
    "input": {"type", "disabled", "checked", "id", "placeholder", "aria-label", "autocomplete", "spellcheck"},
}  # fmt: skip


class Seen(HTMLParser):
    """The tags of a document and the text between them."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        assert len({name for name, _ in attrs}) == len(attrs)
        if tag not in {"meta", "input", "br", "hr"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] not in {"script", "style"}:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def held(document: str) -> Seen:
    """The document, after everything that must hold of any was found to."""
    seen = Seen(document)
    assert seen.open == []
    assert {tag for tag, _ in seen.tags} <= TAGS
    for tag, attributes in seen.tags:
        assert set(attributes) <= ATTRIBUTES.get(tag, set()), (tag, attributes)
        if "href" in attributes:
            assert re.match(r"#|https?://|mailto:", attributes["href"] or ""), attributes
    counts = [sum(tag == name for tag, _ in seen.tags) for name in ("script", "style", "main", "title", "header")]
    assert counts == [1, 1, 1, 1, 1]
    assert document.encode("utf-8")  # no half letters
    return seen


def test_the_policy_allows_the_one_style_and_the_one_script_and_nothing_else() -> None:
    document = export.html(sound(), "Mine")
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', document)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    for name, tag in (("style-src", "style"), ("script-src", "script")):
        (body,) = re.findall(rf"<{tag}>(.*?)</{tag}>", document, re.DOTALL)
        assert rules[name] == f"'sha256-{base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()}'"
        assert not re.search(r"https?:|url\(|@import|fetch|XMLHttp|innerHTML|eval\(", body)
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert document.index("Content-Security-Policy") < document.index("<style>")
    assert "style=" not in document


def test_there_are_fifty_attacks_and_more() -> None:
    assert len(set(PAYLOADS)) >= 50


@pytest.mark.parametrize("payload", PAYLOADS)
def test_hostile_text_stays_text_wherever_it_stands(payload: str) -> None:
    flat = " ".join(payload.split())
    quoted = json.dumps(flat, ensure_ascii=True)
    front = f"title: {quoted}\naliases: [{quoted}]\ntags: [{quoted}]\nupdated: {quoted}\nsources: {flat}"
    forms = f"> {flat}\n\n{flat}\n===\n\n*{flat}* **{flat}**\n\n1. {flat}\n\n[{flat}](https://x.example)"
    texts = sound() | {
        "qa/one.md": f"---\nid: q-1\n{front}\n---\n\n{payload}\n",
        "qa/two.md": f"# {flat}\n\n- {payload} ^m-1\n\n{forms}\n",
        "qa/three.md": f"---\n{payload}\n---\n{payload}",
        f"concepts/{flat}.md": f"[[qa/one]] [[{flat}]] [[one|{flat}]] [[qa/two#{flat}]] ![[qa/two]]",
    }  # fmt: skip
    held(export.html(texts, payload))


def test_words_of_a_payload_are_still_there_to_read() -> None:
    seen = held(export.html({"qa/a.md": "# A\n\n<script>alert(1)</script> and `<b>` and ![shot](https://x.example/a.png)\n"}))
    assert "<script>alert(1)</script> and <b> and shot" in seen.text


def test_links_lead_to_the_pages_and_parts_of_the_document() -> None:
    texts = sound()
    wikilinks = "[[Postgres]] [[postgres#nope]] [[postgresql#^m-5b1c|that]] [[postgresql#key points]] [[nope|gone]]"
    texts["qa/q.md"] = f"# Q\n\n{wikilinks} [plain](../concepts/backups.md) [dead](x.md)\n"
    seen = held(export.html(texts))
    ids = [attributes["id"] for _, attributes in seen.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    inside = [attributes["href"] or "" for _, attributes in seen.tags if (attributes.get("href") or "").startswith("#")]
    assert {href[1:] for href in inside} <= set(ids)
    wanted = {"postgresql", "postgresql--m-5b1c", "postgresql--key-points", "backups"}
    assert {f"#concepts/{each}" for each in wanted} <= set(inside)
    assert "gone" in seen.text
    assert "[[" not in seen.text
    assert "^m-" not in seen.text


def test_the_document_shows_boxes_struck_statements_tables_and_where_it_is_linked_from() -> None:
    body = "- [ ] open\n- [x] done\n- ~~old~~ (2026-01-04 to 2026-03-02) ^m-1\n\n| a | b |\n|:--|--:|\n| 1 | 2 |\n"
    document = export.html(sound() | {"qa/q.md": page("qa/q.md", "Q", body=body)})
    held(document)
    assert '<input type="checkbox" disabled> open' in document
    assert '<input type="checkbox" disabled checked> done' in document
    assert "<s>old</s>" in document
    assert '<td class="right">2</td>' in document
    assert 'Linked from <a href="#connections/both">Both</a>' in document


def test_the_same_pages_give_the_same_document() -> None:
    texts = sound()
    assert export.html(texts) == export.html(dict(reversed(texts.items())))


def test_plain_markdown_has_relative_links_that_lead_somewhere() -> None:
    texts = sound()
    texts["qa/q.md"] = (
        "# Q\r\n\r\n[[Postgres]], [[postgresql#^m-5b1c|that]], [[postgresql#Key points|those]], [[#Q]], `[[x]]`, "
        "[[nope|gone]], [[a<b]]\r\n"
    )
    files = export.markdown(texts)
    assert files["qa/q.md"] == (
        "# Q\r\n\r\n[PostgreSQL](../concepts/postgresql.md), [that](../concepts/postgresql.md#m-5b1c), "
        "[those](../concepts/postgresql.md#key-points), [Q](#q), `[[x]]`, gone, a\\<b\r\n"
    )
    assert '- Staging runs PostgreSQL 16. <a id="m-5b1c"></a>\n' in files[PG]
    parser = MarkdownIt("commonmark")
    for path, text in files.items():
        children = [child for token in parser.parse(text) for child in token.children or []]
        for href in (str(child.attrs["href"]) for child in children if child.type == "link_open"):
            place, _, _ = href.partition("#")
            assert not place or (Path("/") / Path(path).parent / place).resolve().relative_to("/").as_posix() in files


def test_a_vault_holds_the_pages_as_they_are() -> None:
    texts = sound()
    files = export.vault(texts)
    settings = json.loads(files.pop(".obsidian/app.json"))
    assert files == texts
    assert settings["useMarkdownLinks"] is False


def test_json_tells_pages_lines_and_links() -> None:
    texts = sound()
    texts[PG] += "\n[[nope]] [[../../x]]\n"
    told = json.loads(export.as_json(texts))
    found = {each["path"]: each for each in told["pages"]}
    assert set(found) == set(texts)
    assert (found[PG]["title"], found[PG]["aliases"], found[PG]["type"]) == ("PostgreSQL", ["Postgres"], "concept")
    lines = [(line["memory"], line["text"]) for line in found[PG]["lines"]]
    assert lines == [("m_5b1c", "Staging runs PostgreSQL 16."), ("m_77aa", "Use PostgreSQL.")]
    assert [(link["page"], link["problem"]) for link in found[PG]["links"]] == [
        ("connections/both.md", ""), ("daily/2026-03-02.md", ""), ("", "missing"), ("", "outside"),
    ]  # fmt: skip


def test_files_are_written_below_the_folder_alone(tmp_path: Path) -> None:
    files = export.vault(sound())
    paths = export.written(tmp_path / "out", files)
    assert {path.relative_to(tmp_path / "out").as_posix(): path.read_text("utf-8") for path in paths} == files
    for bad in ("../x.md", "/x.md", "a/../../x.md", ".git/config", ".obsidian/../../x", "C:\\x"):
        with pytest.raises(UnsafePath):
            export.written(tmp_path / "other", {"concepts/fine.md": "x", bad: "x"})
    assert not (tmp_path / "other").exists()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / ".obsidian").symlink_to(tmp_path)
    with pytest.raises(UnsafePath):
        export.written(tmp_path / "linked", files)
