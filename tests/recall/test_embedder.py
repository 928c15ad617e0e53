"""The embedder in the package: its table as shipped, the vectors made with it, and what is said of a table that is not sound."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.config import load
from hindbrain.base.errors import EmbedderFailed
from hindbrain.recall import static
from hindbrain.recall.embedder import configured
from hindbrain.recall.local import Local
from hindbrain.recall.static import TABLE, Static, weights_of
from hindbrain.recall.wordpiece import MAX_KNOWN, MAX_TOKENS, WordPiece, pieces

ROOT = Path(__file__).resolve().parent.parent.parent
LIMIT = 20_000_000
TALK = ["We settled on Postgres for the billing service.", "My sister's wedding is in June.", "The build fails on macOS only."]


@pytest.fixture(scope="module")
def table() -> Static:
    return Static.load()


def test_the_shipped_table_has_the_checksum_its_recipe_states_and_is_small() -> None:
    recipe = json.loads((TABLE / static.RECIPE).read_text("utf-8"))
    assert recipe["sha256"] == static.checksum(TABLE)
    assert sorted(path.name for path in TABLE.iterdir()) == sorted([*static.FILES, static.RECIPE])
    assert sum(path.stat().st_size for path in TABLE.iterdir()) < LIMIT


def test_the_licence_of_the_table_and_its_origins_are_told() -> None:
    notice = (ROOT / "NOTICE").read_text("utf-8")
    recipe = (ROOT / "scripts" / "distil" / "README.md").read_text("utf-8")
    for text in (notice, recipe):
        assert [name for name in ("all-MiniLM-L6-v2", "granite-embedding-30m-english", "LongMemEval") if name not in text] == []
    assert "Apache License" in (ROOT / "LICENSES" / "Apache-2.0.txt").read_text("utf-8")


@pytest.mark.slow
def test_the_wheel_holds_the_table_and_its_licence_and_is_small(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < LIMIT
    names = zipfile.ZipFile(wheel).namelist()
    wanted = [f"hindbrain/recall/table/{name}" for name in (*static.FILES, static.RECIPE)]
    assert [name for name in wanted if name not in names] == []
    assert {"NOTICE", "LICENSES/Apache-2.0.txt", "LICENSE"} <= {name.partition("/licenses/")[2] for name in names}


def test_the_name_tells_the_very_table(table: Static) -> None:
    recipe = json.loads((TABLE / static.RECIPE).read_text("utf-8"))
    assert (table.name, table.dimensions) == (f"static:256:{recipe['sha256'][:12]}", 256)
    assert len(table.vocabulary) == len(table.usual) == 29_524


def test_a_text_is_nearest_to_what_means_the_same_without_a_shared_word(table: Static) -> None:
    asked = ["which database holds invoices", "when does her marriage take place", "compiler error on apple laptops"]
    likeness = np.stack([table.question(text) for text in asked]) @ table.documents(TALK).T
    assert likeness.argmax(axis=1).tolist() == [0, 1, 2]


def test_texts_have_the_same_vectors_together_as_alone_and_empty_ones_zeros(table: Static) -> None:
    texts = [*TALK, "", "\0\n", *(" ".join([text] * 60) for text in TALK * 20), "日" * 3]
    together = table.documents(texts)
    assert together.dtype == np.float32
    assert (together == np.stack([table.documents([text])[0] for text in texts])).all()
    assert (together[3:5] == 0).all()
    assert np.abs(np.linalg.norm(np.delete(together, [3, 4], 0), axis=1) - 1).max() < 1e-6
    assert table.documents([]).shape == (0, 256)


def test_a_question_may_be_weighted_by_the_store_it_is_asked_of(table: Static) -> None:
    counts = np.zeros(len(table.vocabulary), np.int64)
    common = table.tokens("postgres")
    counts[common] = 1000
    talk = table.documents(["postgres", "wedding"])
    everywhere = talk @ table.question("postgres wedding", weights_of(counts, 1000))
    usual = talk @ table.question("postgres wedding")
    assert everywhere[0] < usual[0] - 0.2
    assert everywhere[1] > 0.99
    assert (table.question("postgres wedding") == table.question("postgres wedding", table.usual)).all()


def test_token_vectors_have_length_1_and_belong_to_the_tokens(table: Static) -> None:
    tokens = table.tokens("wedding marriage table")
    found = table.token_vectors(tokens)
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6
    assert found[0] @ found[1] > found[0] @ found[2]
    assert table.token_vectors([]).shape == (0, 256)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Postgres' read-only replica", ["post", "##gre", "##s", "'", "read", "-", "only", "replica"]),
        ("ÄRGER über naïve Café", ["ar", "##ger", "uber", "naive", "cafe"]),
        ("src/app.py:42", ["sr", "##c", "/", "app", ".", "p", "##y", ":", "42"]),
        ("日本 ok\u200b\x00!", ["日", "本", "ok", "!"]),
        ("x" * 101, []), ("\ud800", []), ("🦊", []), ("", []),
    ],
)  # fmt: skip
def test_texts_are_cut_as_the_models_the_table_comes_from_cut_them(table: Static, text: str, tokens: list[str]) -> None:
    assert [table.vocabulary[token] for token in table.tokens(text)] == tokens


@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_has_a_vector_of_length_1_or_none(text: str) -> None:
    table = Static.load()
    row = table.documents([text])[0]
    assert abs(float(np.linalg.norm(row)) - bool(table.tokens(text))) < 1e-5


def test_hostile_texts_are_cut_to_a_bounded_number_of_tokens_and_words_are_not_remembered_for_ever() -> None:
    words = WordPiece(["a", "##a", "b"])
    assert words.tokens("a" * 5_000_000) == []
    assert words.tokens("a b " * 1_000_000) == [0, 2] * (MAX_TOKENS // 2)
    assert len(pieces("." * 5_000_000)) == 8_000
    for start in range(0, MAX_KNOWN + 2_000, 1_000):
        words.tokens(" ".join(str(number) for number in range(start, start + 1_000)))
    assert len(words._known) <= MAX_KNOWN
    assert words.tokens("aa b") == [0, 1, 2]


def broken_tables() -> dict[str, tuple[str, bytes | None]]:
    """What is wrong -> the file that is changed, and to what; None for none at all."""
    rows = (TABLE / "rows.npy").read_bytes()
    return {
        "a byte is another": ("rows.npy", rows[:5_000_000] + bytes([rows[5_000_000] ^ 1]) + rows[5_000_001:]),
        "rows are cut off": ("rows.npy", rows[:-4096]),
        "rows are missing": ("rows.npy", None),
        "another vocabulary": ("vocabulary.txt", b"a\nb"),
        "scales of nothing": ("scales.npy", b""),
        "no recipe": (static.RECIPE, None),
        "a recipe that is not JSON": (static.RECIPE, b"{"),
        "a recipe that is a list": (static.RECIPE, b"[]"),
        "a recipe without a checksum": (static.RECIPE, b"{}"),
    }


@pytest.mark.parametrize("what", sorted(broken_tables()))
def test_a_table_that_is_not_sound_is_refused_with_a_hint(tmp_path: Path, what: str) -> None:
    name, data = broken_tables()[what]
    folder = tmp_path / "table"
    shutil.copytree(TABLE, folder)
    (folder / name).unlink()
    if data is not None:
        (folder / name).write_bytes(data)
    with pytest.raises(EmbedderFailed) as caught:
        Static.load(folder)
    assert caught.value.message.startswith(("cannot use the table of vectors in ", "cannot load the table of vectors in "))
    assert str(folder) in caught.value.message
    assert caught.value.hint == "install hindbrain again; until then search goes by words alone"
    assert not caught.value.retryable


def test_the_configuration_names_the_table_or_nothing(tmp_path: Path) -> None:
    environ = {"HOME": "/home/ada", "HINDBRAIN_HOME": str(tmp_path)}
    assert configured(load(environ=environ)) is Static.load()
    assert configured(load(environ=environ | {"HINDBRAIN_EMBEDDER": "none"})) is None
    named = configured(load(environ=environ | {"HINDBRAIN_EMBEDDER": "fastembed:BAAI/bge-small-en-v1.5"}))
    assert isinstance(named, Local)


def test_what_the_hook_may_load_does_not_load_numpy() -> None:
    names = [f"hindbrain.recall.{name}" for name in ("rank", "context", "block", "tokens", "words", "passages", "wordpiece")]
    code = f"import sys, {', '.join(names)}, hindbrain.capture.hook, hindbrain.serve.answer; print('numpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "False\n"
