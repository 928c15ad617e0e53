"""Names of files and paths, whatever a title or a link says."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.errors import UnsafePath
from hindbrain.wiki.names import folded, free, is_page, safe_path, short, slug
from tests.wiki.made import WORDS

RESERVED = ["con", "NUL", "aux", "prn", "COM1", "lpt9", "com0"]


@given(st.one_of(WORDS, st.sampled_from([*RESERVED, "..", ".", "", "/etc/passwd", "C:\\x", "a" * 500, "数" * 200, "é" * 200])))
@settings(max_examples=500, deadline=None)
def test_a_slug_is_a_name_on_every_system(title: str) -> None:
    name = slug(title)
    assert 0 < len(name.encode("utf-8")) <= 80
    assert name == unicodedata.normalize("NFC", name) == slug(title)
    assert all(letter == "-" or letter.isalnum() or unicodedata.category(letter)[0] == "M" for letter in name)
    assert not name.startswith("-") and not name.endswith("-") and "--" not in name
    assert name not in {each.lower() for each in RESERVED}
    assert is_page(f"concepts/{name}.md")


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("PostgreSQL", "postgresql"), ("Größe & Maß", "grosse-mass"), ("Señal número 1", "senal-numero-1"), ("Łódź", "lodz"),
        ("数据库 迁移", "数据库-迁移"), ("База данных", "база-данных"), ("pyproject.toml", "pyproject-toml"), ("../../x", "x"),
        ("ﬁle", "file"),
    ],
)  # fmt: skip
def test_a_slug_keeps_what_a_person_would_type(title: str, name: str) -> None:
    assert slug(title) == name


def test_titles_of_nothing_but_signs_have_names_of_their_own() -> None:
    assert slug("???") != slug("!!!")
    assert slug("con") == slug("con") != "con"


def test_of_two_pages_one_gets_digits_whatever_the_case() -> None:
    taken = {folded("concepts/api.md")}
    other = free("concepts", "API", "c-2", taken)
    assert folded(other) not in taken
    assert other == free("concepts", "API", "c-2", taken) != free("concepts", "API", "c-3", taken)
    assert len(Path(free("concepts", "a" * 80, "c-2", {folded(f"concepts/{'a' * 80}.md")})).stem) <= 80


@pytest.mark.parametrize(
    "bad",
    [
        "", "/", "/etc/passwd", "..", "../x.md", "concepts/../../x.md", "concepts//x.md", "./x.md", "concepts/.hidden.md",
        "a\\..\\b.md", "C:/x.md",
        "x\x00.md", "x\n.md", "concepts/x. ", "concepts/..", "~/../x", "concepts/\ud800.md", "a/" * 600 + "x.md",
    ],
)  # fmt: skip
def test_a_path_that_may_lead_out_is_refused(tmp_path: Path, bad: str) -> None:
    with pytest.raises(UnsafePath):
        safe_path(tmp_path, bad)
    assert not is_page(bad)


@given(
    st.one_of(
        WORDS, st.lists(st.sampled_from(["..", ".", "/", "a", "\\", "\x00", "concepts", ".md", " "]), max_size=8).map("".join)
    )
)
@settings(max_examples=300, deadline=None)
def test_a_path_is_inside_or_refused(relative: str) -> None:
    root = Path("/nowhere/wiki")
    try:
        path = safe_path(root, relative)
    except UnsafePath:
        return
    assert root in path.parents
    assert ".." not in path.parts


def test_a_link_on_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    wiki = tmp_path / "wiki"
    wiki.mkdir()
    (wiki / "concepts").symlink_to(tmp_path / "out")
    (wiki / "index.md").symlink_to(tmp_path / "nothing")
    for relative in ("concepts/x.md", "index.md"):
        with pytest.raises(UnsafePath):
            safe_path(wiki, relative)
    assert safe_path(wiki, "qa/x.md") == wiki / "qa" / "x.md"


@pytest.mark.parametrize("path", ["index.md", "log.md", "soul.md", "daily/2026-03-02.md", "concepts/a b.md", "projects/x.md"])
def test_pages_are_pages(path: str) -> None:
    assert is_page(path)


@pytest.mark.parametrize(
    "path", ["notes.md", "concepts/x.txt", "concepts/.md", "concepts/a/b.md", ".hindbrain/x.md", ".git/x.md", "concepts"]
)
def test_other_files_are_not(path: str) -> None:
    assert not is_page(path)


def test_a_session_is_called_by_its_first_digits() -> None:
    assert short("s_1a2b3c4d5e") == "1a2b3c4d"
    assert len(short("anything else")) == 8
