"""New memories come once each, in the order in which the home came to know them, and a position goes on behind any of them."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hindbrain import Memory, News
from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.serve.install.purge import look


def texts(news: list[News]) -> list[str]:
    return [each.memory.text for each in news]


def now(memory: Memory, after: str = "", project: str | None = None) -> list[News]:
    return list(memory.subscribe(after, project, timeout=0))


def test_each_memory_comes_once_and_a_position_goes_on_behind_it(memory: Memory) -> None:
    for text in ("one is turquoise", "two is mauve"):
        memory.remember(text, project="shop")
    memory.settle()
    first = now(memory)
    assert sorted(texts(first)) == ["one is turquoise", "two is mauve"]
    assert now(memory, first[-1].position) == []
    assert texts(now(memory, first[0].position)) == texts(first[1:])
    # said long ago, but known only now
    memory.remember("three is ochre", project="shop", at=datetime(2020, 1, 1, tzinfo=UTC))
    memory.settle()
    assert texts(now(memory, first[-1].position)) == ["three is ochre"]
    assert texts(now(memory)) == [*texts(first), "three is ochre"]


def test_a_position_holds_in_another_process(memory: Memory, home: Path) -> None:
    memory.remember("one is turquoise")
    memory.settle()
    position = memory.position()
    memory.remember("two is mauve")
    memory.settle()
    script = (
        "import sys; from hindbrain import Memory\n"
        "with Memory.open(home=sys.argv[1]) as memory: print([n.memory.text for n in memory.subscribe(sys.argv[2], timeout=0)])"
    )
    done = subprocess.run([sys.executable, "-c", script, str(home), position], capture_output=True, text=True, check=True)
    assert done.stdout == "['two is mauve']\n"


def test_a_correction_comes_as_a_new_memory_and_the_old_one_no_more(memory: Memory) -> None:
    old = memory.remember("the port is 5432", project="shop")
    memory.settle()
    position = memory.position()
    new = memory.correct(old, "the port is 5433")
    memory.settle()
    assert [(each.memory.id, each.memory.text) for each in now(memory, position)] == [(new, "the port is 5433")]
    assert texts(now(memory)) == ["the port is 5433"]


def test_a_project_has_its_own_and_what_is_global(memory: Memory) -> None:
    memory.remember("of the shop", project="shop")
    memory.remember("of the depot", project="depot")
    memory.remember("of all")
    memory.settle()
    assert sorted(texts(now(memory, "", "shop"))) == ["of all", "of the shop"]
    assert texts(now(memory, "", "unheard of")) == ["of all"]


def test_what_is_forgotten_does_not_come(memory: Memory) -> None:
    gone = memory.remember("one is turquoise")
    memory.remember("two is mauve")
    memory.settle()
    position = memory.position()
    memory.forget(id=gone)
    assert texts(now(memory)) == ["two is mauve"]
    memory.remember("three is ochre")
    memory.settle()
    assert texts(now(memory, position)) == ["three is ochre"]


@pytest.mark.parametrize("left", [None, b"", b"\xff\xfe\n"])
def test_after_the_list_was_lost_everything_comes_again(memory: Memory, home: Path, left: bytes | None) -> None:
    memory.remember("one is turquoise")
    memory.settle()
    position = memory.position()
    (home / "arrivals" / "order").unlink()
    if left is not None:
        (home / "arrivals" / "order").write_bytes(left)
    assert texts(now(memory, position)) == ["one is turquoise"]


def test_a_list_put_back_to_an_older_state_leaves_nothing_out(memory: Memory, home: Path) -> None:
    memory.remember("one is turquoise")
    memory.settle()
    memory.position()
    older = (home / "arrivals" / "order").read_bytes()
    memory.remember("two is mauve")
    memory.settle()
    position = memory.position()
    (home / "arrivals" / "order").write_bytes(older.split(b"\n")[0] + b"\n")
    assert "two is mauve" in texts(now(memory, position + "0"))


@pytest.mark.parametrize("bad", ["x", "abc:", "abc:-1", "abc:1.5", "abc:" + "9" * 5000, "abc:²"])
def test_what_is_no_position_is_refused(memory: Memory, bad: str) -> None:
    memory.remember("one")
    memory.settle()
    with pytest.raises(UsageError, match="is no position"):
        now(memory, bad)


def test_nothing_is_new_where_nothing_is_stored(memory: Memory) -> None:
    assert (now(memory), now(memory, memory.position())) == ([], [])


def test_a_home_with_a_list_of_arrivals_is_still_known_as_a_home(memory: Memory, home: Path) -> None:
    memory.remember("one is turquoise")
    memory.settle()
    memory.position()
    assert sorted(path.name for path in (home / "arrivals").iterdir()) == ["lock", "order"]
    preview = look(Home(home), SystemClock(), {})
    assert preview is not None and preview.home == home


def test_several_who_look_at_once_agree_on_the_order(memory: Memory) -> None:
    for number in range(20):
        memory.remember(f"number {number} is turquoise")
    memory.settle()
    found: list[list[tuple[str, str]]] = []
    threads = [
        threading.Thread(target=lambda: found.append([(each.position, each.memory.id) for each in now(memory)])) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(each == found[0] for each in found) and len(found[0]) == 20


def test_who_waits_is_told_when_it_comes(memory: Memory) -> None:
    memory.remember("one is turquoise")
    memory.settle()
    waiting = memory.subscribe(memory.position(), timeout=60, every=0.01)

    def tell() -> None:
        memory.remember("two is mauve")
        memory.settle()

    thread = threading.Thread(target=tell)
    thread.start()
    assert next(waiting).memory.text == "two is mauve"
    thread.join()
