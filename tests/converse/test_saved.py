"""Conversations on the disk: what is saved is found again, in order, whatever else happens at the same time."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from hindbrain import ConversationConfig, ConversationMemory, MemoryManager
from hindbrain.base.errors import LockTimeout, StorageError, UsageError
from hindbrain.base.files import Lock
from hindbrain.converse.saved import ConversationWarning


def talked(*texts: str, max_turns: int = 5) -> ConversationMemory:
    memory = ConversationMemory(max_turns)
    for number, text in enumerate(texts):
        memory.record_turn(("user", "assistant")[number % 2], text)
    return memory


def texts(memory: ConversationMemory | None) -> list[str]:
    assert memory is not None
    return [turn.text for turn in memory.turns]


def files(base: Path) -> list[str]:
    return sorted(str(path.relative_to(base)) for path in base.rglob("*") if path.is_file())


def past(base: Path) -> list[str]:
    lines = (base / "crew" / "memory" / "ada.past.jsonl").read_text().splitlines()
    return [json.loads(line)["content"] for line in lines]


def test_what_is_saved_is_loaded_and_what_is_deleted_is_gone(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    memory = talked(*"abcdefgh")
    manager.save("crew", "ada", memory)
    loaded = manager.load("crew", "ada")
    assert loaded == memory
    assert loaded is not None
    assert [turn.text for turn in loaded.relevant("b c")] == ["b", "c"]
    assert files(tmp_path) == [f"crew/memory/{name}" for name in (".ada.lock", "ada.json", "ada.past.db", "ada.past.jsonl")]
    assert manager.delete("crew", "ada") is True
    assert manager.load("crew", "ada") is None
    assert manager.delete("crew", "ada") is False
    assert files(tmp_path) == ["crew/memory/.ada.lock"]


def test_an_agent_nobody_has_talked_to_has_no_conversation_and_asking_makes_no_file(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path / "base")
    assert manager.load("crew", "ada") is None
    assert manager.delete("crew", "ada") is False
    assert (manager.list("crew"), manager.teams()) == ([], [])
    assert not (tmp_path / "base").exists()


def test_teams_and_agents_are_listed_by_name(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    for team, agent in [("zoo", "b"), ("zoo", "a.past"), ("zoo", "a"), ("Ärzte 2", "x@host+1")]:
        manager.save(team, agent, talked(*"abcdefgh"))
    (tmp_path / "empty" / "memory").mkdir(parents=True)
    (tmp_path / "a file").touch()
    assert manager.teams() == ["zoo", "Ärzte 2"]
    assert manager.list("zoo") == ["a", "a.past", "b"]
    assert manager.list("a file") == []


@pytest.mark.parametrize(
    "name",
    ["..", ".", "", "../x", "a/b", "/etc", "a\\b", "a\x00", "a\n", ".hidden", "-rf", "a ", "x" * 101, "é" * 51, "a\u202eb", "a:b",
     "a.", " a", "*", "~", None, 7, "con\x7f", "\ud800", "a..b"],
)  # fmt: skip
def test_a_name_that_could_lead_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    manager = MemoryManager(tmp_path / "base")
    memory = talked("a")
    for team, agent in [(name, "ada"), ("crew", name)]:
        for action in (manager.load, manager.delete, lambda team, agent: manager.save(team, agent, memory)):
            with pytest.raises(UsageError, match=r"cannot be the name of an? "):
                action(team, agent)
    assert list(tmp_path.iterdir()) == []


def test_files_and_directories_are_private(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        MemoryManager(tmp_path / "base").save("crew", "ada", talked(*"abcdefgh"))
    finally:
        os.umask(before)
    for path in (tmp_path / "base").rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


def test_the_limits_of_the_caller_count_more_than_those_saved(tmp_path: Path) -> None:
    MemoryManager(tmp_path).save("crew", "ada", talked("ants", "bees", "cats", "dogs", max_turns=4))
    smaller = ConversationConfig(max_turns=2, budget_chars=100)
    saved, told = MemoryManager(tmp_path).load("crew", "ada"), MemoryManager(tmp_path, smaller).load("crew", "ada")
    given = MemoryManager(tmp_path).load("crew", "ada", smaller)
    assert saved is not None
    assert told is not None
    assert given is not None
    assert (saved.config.max_turns, texts(saved)) == (4, ["ants", "bees", "cats", "dogs"])
    assert (told.config, texts(told)) == (given.config, texts(given)) == (smaller, ["cats", "dogs"])
    assert [turn.text for turn in told.relevant("an ant")] == ["ants", "bees"]


def test_turns_that_go_are_in_the_past_before_the_conversation_lets_go_of_them(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    memory = talked("a", "b", max_turns=2)
    for text in "cdef":
        memory.record_turn("user", text)
        manager.save("crew", "ada", memory)
    assert (texts(memory), past(tmp_path)) == (["e", "f"], ["a", "b", "c", "d"])


def test_a_save_that_was_cut_short_before_the_conversation_was_replaced_keeps_each_turn_once(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    manager.save("crew", "ada", talked(*"abcd", max_turns=4))
    old = (tmp_path / "crew" / "memory" / "ada.json").read_bytes()
    memory = manager.load("crew", "ada")
    assert memory is not None
    memory.record_turn("user", "e")
    memory.record_turn("assistant", "f")
    manager.save("crew", "ada", memory)
    (tmp_path / "crew" / "memory" / "ada.json").write_bytes(old)  # the past is written, the conversation is not
    again = manager.load("crew", "ada")
    assert again is not None
    assert texts(again) == ["a", "b", "c", "d"]
    assert again.relevant("a b") == []  # told word for word, so not twice
    for text in "efg":
        again.record_turn("user", text)
    manager.save("crew", "ada", again)
    assert (texts(again), past(tmp_path)) == (["d", "e", "f", "g"], ["a", "b", "c"])


def test_a_line_of_the_past_that_was_torn_off_costs_nothing_else(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    manager.save("crew", "ada", talked("about apples", "about pears", "x", max_turns=1))
    log = tmp_path / "crew" / "memory" / "ada.past.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole + whole[:30])
    memory = manager.load("crew", "ada")
    assert memory is not None
    assert [turn.text for turn in memory.relevant("apples")] == ["about apples", "about pears"]
    memory.record_turn("user", "about plums")
    memory.record_turn("user", "y")
    manager.save("crew", "ada", memory)
    assert [turn.text for turn in memory.relevant("plums apples")] == ["about apples", "about pears", "about plums"]
    assert memory.kept is not None
    assert [turn.text for turn in memory.kept.turns()] == ["about apples", "about pears", "x", "about plums"]


def test_what_another_process_saved_meanwhile_goes_to_the_past(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    manager.save("crew", "ada", talked("start"))
    mine, theirs = manager.load("crew", "ada"), manager.load("crew", "ada")
    assert mine is not None
    assert theirs is not None
    theirs.record_turn("user", "what they heard about walruses")
    manager.save("crew", "ada", theirs)
    mine.record_turn("user", "mine")
    manager.save("crew", "ada", mine)
    found = manager.load("crew", "ada")
    assert found is not None
    assert texts(found) == ["start", "mine"]
    assert [turn.text for turn in found.relevant("walruses")] == ["what they heard about walruses"]


def test_clearing_takes_the_past_from_the_disk(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    memory = talked(*(f"word{number}" for number in range(9)))
    manager.save("crew", "ada", memory)
    memory.clear()
    memory.record_turn("user", "anew")
    manager.save("crew", "ada", memory)
    assert files(tmp_path) == ["crew/memory/.ada.lock", "crew/memory/ada.json"]
    found = manager.load("crew", "ada")
    assert found is not None
    assert (texts(found), found.digest, found.relevant("word1")) == (["anew"], "", [])


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe", b"null", b"[]", b'{"turns": {}}', b'{"turns": [1]}', b'{"turns": [{"role": "user"}]}',
     b"[" * 100_000,
     b'{"turns": [{"role": "system", "content": "a", "timestamp": "2026-01-01T00:00:00Z"}]}',
     b'{"turns": [{"role": "user", "content": "a", "timestamp": "yesterday"}]}',
     b'{"turns": [{"role": "user", "content": "a", "timestamp": "9999-12-31T23:59:59Z"}]}',
     b'{"turns": [{"role": ["user"], "content": "a", "timestamp": "2026-01-01T00:00:00Z"}]}',
     b'{"turns": [], "digest": 3}', b'{"turns": [], "digest": {"turns": -1, "said": []}}', b'{"turns": [], "enabled": "no"}'],
    ids=range(16),
)  # fmt: skip
def test_what_is_no_conversation_is_moved_aside_with_a_warning(tmp_path: Path, content: bytes) -> None:
    manager = MemoryManager(tmp_path)
    manager.save("crew", "ada", talked(*"abcdefgh"))
    place = tmp_path / "crew" / "memory" / "ada.json"
    place.write_bytes(content)
    with pytest.warns(ConversationWarning, match="is no conversation: .*; it was moved to ada.json.corrupt-2"):
        assert manager.load("crew", "ada") is None
    aside = [path for path in place.parent.iterdir() if ".corrupt-" in path.name]
    assert [path.read_bytes() for path in aside] == [content]
    assert manager.load("crew", "ada") is None
    with manager.changing("crew", "ada") as memory:
        assert [turn.text for turn in memory.relevant("b")] == ["b"]  # the past is another file


@pytest.mark.parametrize("config", ["null", "7", "{}", '{"max_turns": -3, "budget_chars": "many"}', '{"max_turns": 1e9}'])
def test_limits_that_are_none_do_not_make_a_conversation_unreadable(config: str) -> None:
    assert ConversationMemory.from_json(f'{{"turns": [], "config": {config}}}').config == ConversationConfig()


def test_a_link_in_the_place_of_a_conversation_is_not_followed(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path / "base")
    manager.save("crew", "ada", talked("a"))
    place = tmp_path / "base" / "crew" / "memory" / "ada.json"
    (tmp_path / "elsewhere").write_bytes(place.read_bytes())
    place.unlink()
    place.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(StorageError, match="is a link"):
        manager.load("crew", "ada")
    with pytest.raises(StorageError, match="is a link"):
        manager.save("crew", "ada", talked("b"))


def test_a_lock_that_is_held_too_long_is_an_error_and_another_agent_does_not_wait(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path, timeout=0.05)
    manager.save("crew", "ada", talked("a"))
    with Lock(tmp_path / "crew" / "memory" / ".ada.lock"):
        with pytest.raises(LockTimeout, match=r"being saved by another process for longer than 0\.05 s"):
            manager.save("crew", "ada", talked("b"))
        manager.save("crew", "bob", talked("c"))
        assert texts(manager.load("crew", "ada")) == ["a"]  # reading does not wait
    manager.save("crew", "ada", talked("b"))
    assert texts(manager.load("crew", "ada")) == ["b"]


def test_a_change_that_fails_is_not_saved(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    with pytest.raises(ZeroDivisionError), manager.changing("crew", "ada") as memory:
        memory.record_turn("user", "a")
        raise ZeroDivisionError
    assert manager.load("crew", "ada") is None


def test_files_of_an_older_program_are_read_in_place_and_it_can_read_ours(tmp_path: Path) -> None:
    place = tmp_path / "crew" / "memory" / "ada.json"
    place.parent.mkdir(parents=True)
    old = {
        "turns": [
            {"role": "user", "content": "ping", "timestamp": "2025-11-02T09:30:00.123456789Z"},
            {"role": "assistant", "content": "pong", "timestamp": "2025-11-02T09:30:00.123456789Z"},
            {"role": "user", "content": "and now?", "timestamp": "2025-11-02T11:30:01+02:00"},
        ],
        "config": {"max_turns": 3, "budget_chars": 10000},
    }
    place.write_text(json.dumps(old, indent=2))
    (place.parent / ".lock").touch()
    with MemoryManager(tmp_path).changing("crew", "ada") as memory:
        assert memory.format_context() == "[Conversation Context]\nUser: ping\nAssistant: pong\nUser: and now?\n"
        memory.record_turn("assistant", "later")
    new = json.loads(place.read_text())
    assert new["config"] == old["config"]
    assert [(each["role"], each["content"], each["timestamp"][:19]) for each in new["turns"][:2]] == [
        ("assistant", "pong", "2025-11-02T09:30:00"), ("user", "and now?", "2025-11-02T09:30:01"),
    ]  # fmt: skip
    # An older program drops what it does not know. Nothing but the digest goes with it.
    place.write_text(json.dumps({name: new[name] for name in ("turns", "config")}))
    again = MemoryManager(tmp_path).load("crew", "ada")
    assert again is not None
    assert [turn.text for turn in again.relevant("ping")] == ["ping"]


def test_conversations_of_another_directory_are_taken_over_once_and_left_as_they_are(tmp_path: Path) -> None:
    old, new = MemoryManager(tmp_path / "old"), MemoryManager(tmp_path / "new")
    old.save("crew", "ada", talked(*(f"word{number}" for number in range(9))))
    old.save("crew", "bob", talked("theirs"))
    old.save("crew", "eve", talked("x"))
    (tmp_path / "old" / "crew" / "memory" / "eve.json").write_text("{")
    new.save("crew", "bob", talked("mine"))
    before = {name: (tmp_path / "old" / name).read_bytes() for name in files(tmp_path / "old")}
    with pytest.warns(ConversationWarning, match=r"eve.json is passed over: it is no JSON"):
        assert new.migrate(tmp_path / "old") == ["crew/ada"]
    assert {name: (tmp_path / "old" / name).read_bytes() for name in files(tmp_path / "old")} == before
    ada = new.load("crew", "ada")
    assert ada == old.load("crew", "ada")
    assert ada is not None
    assert [turn.text for turn in ada.relevant("word0")] == ["word0", "word1"]
    assert texts(new.load("crew", "bob")) == ["mine"]


def test_a_turn_that_is_to_be_forgotten_goes_from_every_file_and_the_others_stay(tmp_path: Path) -> None:
    manager = MemoryManager(tmp_path)
    said = ["the walrus one", "two", "three", "four", "five", "the walrus six", "seven"]
    manager.save("crew", "ada", talked(*said))
    manager.save("crew", "bob", talked("the walrus too"))
    memory = manager.load("crew", "ada")
    assert memory is not None
    assert memory.relevant("walrus") != []
    folder = tmp_path / "crew" / "memory"
    for leftover in ("ada.json.corrupt-20260301T00-ab", ".ada.json.7.8.tmp", ".ada.past.jsonl.7.8.tmp", "eve.json.corrupt-x-y"):
        (folder / leftover).write_text("the walrus")
    assert manager.forget(lambda team, agent, turn: (team, agent) == ("crew", "ada") and "walrus" in turn.text) == 2
    holding = [path.name for path in folder.iterdir() if "walrus" in path.read_bytes().decode("utf-8", "replace")]
    assert holding == ["bob.json"]
    after = manager.load("crew", "ada")
    assert after is not None
    assert (texts(after), past(tmp_path), after.relevant("walrus")) == (["three", "four", "five", "seven"], ["two"], [])
    assert after.digest == 'Earlier: 1 turn is not repeated here; assistant said "two"'
    assert manager.forget(lambda team, agent, turn: "walrus" in turn.text and agent == "ada") == 0
