"""The turns of the past: what a prompt is about is found, whatever is in it and whatever has become of the index."""

from __future__ import annotations

import os
import sqlite3
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindbrain.base.errors import StorageError
from hindbrain.converse.index import PLACES
from hindbrain.converse.past import Past
from hindbrain.converse.turns import Turn, role_of

START = datetime(2026, 3, 1, tzinfo=UTC)


def turns(*texts: str, first: int = 0) -> list[Turn]:
    """A question and an answer in turn."""
    return [
        Turn(role_of(("user", "assistant")[(first + number) % 2]), text, START + timedelta(seconds=first + number))
        for number, text in enumerate(texts)
    ]


def found(past: Past, prompt: str, limit: int = 3) -> list[str]:
    return [each.turn.text for each in past.find(prompt, limit)]


@pytest.fixture(params=["on disk", "in memory"])
def past(request: pytest.FixtureRequest, tmp_path: Path) -> Past:
    return Past(tmp_path / "ada.past.jsonl" if request.param == "on disk" else None)


def test_the_answer_to_a_question_is_found_by_the_words_of_the_question(past: Past) -> None:
    past.append(turns("which port does staging use?", "5433", "rename the file", "done"))
    assert found(past, "remind me of the port of staging") == ["which port does staging use?", "5433"]


def test_words_are_found_in_their_other_forms_and_without_accents(past: Past) -> None:
    past.append(turns("we deployed the databases to Zürich", "fine"))
    assert found(past, "deploying a database")[0] == "we deployed the databases to Zürich"
    assert found(past, "zurich")[0] == "we deployed the databases to Zürich"


def test_scripts_without_spaces_are_found_by_a_part_of_the_text(past: Past) -> None:
    past.append(turns("测试数据库监听端口五四三三", "好的", "ステージングのデータベース", "はい"))
    assert found(past, "数据库的端口是什么")[0] == "测试数据库监听端口五四三三"
    assert found(past, "データベースはどこ")[0] == "ステージングのデータベース"


def test_a_word_said_everywhere_finds_nothing_by_itself_and_a_rare_one_far_back_does(past: Past) -> None:
    common = [f"please look at file {number}" for number in range(PLACES * 4)]
    past.append(turns("the walrus guards the file", "it does", *common))
    assert found(past, "which file does the walrus look at?")[0] == "the walrus guards the file"
    assert found(past, "file") == []


@pytest.mark.parametrize(
    "prompt",
    ["", "   ", "???", '"', "AND OR NOT", "NEAR(walrus", "text:walrus*", "walrus -walrus ^walrus", "w" * 100_000, "\x00\ud800",
     "* " * 9999],
)  # fmt: skip
def test_no_prompt_is_a_query_language(past: Past, prompt: str) -> None:
    past.append(turns("the walrus guards", "it does", "nothing else"))
    assert set(found(past, prompt)) <= {"the walrus guards", "it does"}


def test_nothing_is_found_where_nothing_was_said_or_none_is_wanted(past: Past) -> None:
    assert found(past, "walrus") == []
    past.append([])
    past.append(turns("walrus"))
    assert found(past, "walrus", limit=0) == []


def test_the_same_turn_twice_is_found_once(past: Past) -> None:
    said = turns("the walrus guards", "it does")
    past.append(said)
    past.append(turns("and now", first=5))
    past.append(said)
    assert found(past, "walrus") == ["the walrus guards", "it does"]
    assert [turn.text for turn in past.turns()] == ["the walrus guards", "it does", "and now"]


def test_what_was_cleared_or_replaced_is_not_found_and_what_comes_after_is(past: Past) -> None:
    past.append(turns("the walrus guards", "it does"))
    assert found(past, "walrus") != []
    past.replace(turns("the penguin guards", "it does too"))
    assert (found(past, "walrus"), found(past, "penguin")) == ([], ["the penguin guards", "it does too"])
    past.clear()
    assert found(past, "penguin") == []
    past.append(turns("the ostrich guards", "it does", "and much longer than what was there before", first=10))
    assert (found(past, "penguin"), found(past, "ostrich")) == ([], ["the ostrich guards", "it does"])


def kept(tmp_path: Path) -> Past:
    past = Past(tmp_path / "ada.past.jsonl")
    past.append(turns("the walrus guards", "it does", *(f"number {number}" for number in range(50))))
    assert found(past, "walrus") == ["the walrus guards", "it does"]
    return past


@pytest.mark.parametrize("damage", ["gone", "empty", "garbage", "cut", "another database", "flipped", "older"])
def test_an_index_that_is_not_sound_is_made_anew(tmp_path: Path, damage: str) -> None:
    past = kept(tmp_path)
    index = tmp_path / "ada.past.db"
    whole = index.read_bytes()
    if damage == "gone":
        index.unlink()
    elif damage == "another database":
        index.unlink()
        with closing(sqlite3.connect(index)) as other, other:
            other.execute("CREATE TABLE words (text)")
        other.close()
    elif damage == "older":
        past.append(turns("the penguin guards", "it does too", first=900))
    else:
        middle = len(whole) // 2
        flipped = bytes(byte ^ 0xFF for byte in whole[100 : middle * 2])
        index.write_bytes({"empty": b"", "garbage": b"x" * 9999, "cut": whole[:middle], "flipped": whole[:100] + flipped}[damage])
    assert found(past, "walrus") == ["the walrus guards", "it does"]
    assert found(past, "penguin") == (["the penguin guards", "it does too"] if damage == "older" else [])


def test_a_few_new_turns_are_found_without_writing_and_many_are_kept(tmp_path: Path) -> None:
    past = kept(tmp_path)
    index = tmp_path / "ada.past.db"
    before = index.read_bytes()
    past.append(turns("the penguin guards", "it does too", first=900))
    assert found(past, "penguin") == ["the penguin guards", "it does too"]
    assert found(past, "walrus") == ["the walrus guards", "it does"]
    assert index.read_bytes() == before
    past.append(turns(*(f"filling {number} " + "x" * 500 for number in range(40)), first=1000))
    assert found(past, "penguin") == ["the penguin guards", "it does too"]
    after = index.read_bytes()
    assert after != before
    assert found(past, "filling 7")[0].startswith("filling 7 ")
    assert index.read_bytes() == after
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ada.past.db", "ada.past.jsonl"]


def test_an_index_of_another_file_is_not_used(tmp_path: Path) -> None:
    kept(tmp_path)
    log = tmp_path / "ada.past.jsonl"
    log.unlink()
    past = Past(log)
    past.append(turns(*(f"the penguin says {number}" for number in range(200)), first=9000))
    assert found(past, "walrus") == []
    assert found(past, "penguin 7") == ["the penguin says 7"]


def test_an_index_of_another_file_of_the_same_size_is_not_used(tmp_path: Path) -> None:
    past = kept(tmp_path)
    log = tmp_path / "ada.past.jsonl"
    size = log.stat().st_size
    log.write_bytes(log.read_bytes().replace(b"walrus", b"salmon").replace(b"2026-03-01", b"2026-04-01"))
    assert log.stat().st_size == size
    assert (found(past, "walrus"), found(past, "salmon")) == ([], ["the salmon guards", "it does"])


def test_a_damaged_line_costs_that_line_alone(tmp_path: Path) -> None:
    past = kept(tmp_path)
    log = tmp_path / "ada.past.jsonl"
    lines = log.read_bytes().split(b"\n")
    lines[1] = lines[1][:-5] + b"\xff\xff\xff\xff\xff"
    log.write_bytes(b"\n".join(lines))
    (tmp_path / "ada.past.db").unlink()
    assert found(past, "walrus") == ["the walrus guards"]
    assert len([*past.turns()]) == 51


def test_a_link_in_the_place_of_the_files_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("")
    for name in ("ada.past.jsonl", "ada.past.db"):
        past = Past(tmp_path / "ada.past.jsonl")
        (tmp_path / name).symlink_to(tmp_path / "elsewhere")
        with pytest.raises(StorageError, match="is a link"):
            past.append(turns("the walrus"))
            past.find("walrus", 1)
        (tmp_path / name).unlink()
        (tmp_path / "ada.past.jsonl").unlink(missing_ok=True)
    assert (tmp_path / "elsewhere").read_text() == ""


def test_many_may_look_at_once_while_turns_are_added(tmp_path: Path) -> None:
    past = kept(tmp_path)
    os.unlink(tmp_path / "ada.past.db")  # all of them find it missing
    answers: list[list[str]] = []

    def look() -> None:
        for _ in range(10):
            answers.append(found(Past(past.path), "walrus"))

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(20):
        past.append(turns("something else", first=1000 + number))
    for thread in threads:
        thread.join()
    assert answers == [["the walrus guards", "it does"]] * 40
