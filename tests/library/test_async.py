"""AsyncMemory: the same methods as Memory, none left out, with the loop free meanwhile."""

from __future__ import annotations

import asyncio
import inspect
from pathlib import Path

import pytest

from hindbrain import AsyncMemory, Memory, Turn
from hindbrain.base.errors import NotFound, UsageError

# What need not be awaited, and what is there for our own stages.
LEFT_OUT = {"open", "close", "trouble", "answered_by", "tell", "look", "is_shared"}


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")} - LEFT_OUT


def test_every_method_of_memory_is_there_with_the_same_parameters() -> None:
    assert public(Memory) - public(AsyncMemory) == set()
    for name in sorted(public(Memory)):
        one, other = (inspect.signature(getattr(kind, name)).parameters for kind in (Memory, AsyncMemory))
        assert [(each.name, each.kind, each.default) for each in one.values()] == [
            (each.name, each.kind, each.default) for each in other.values()
        ], name


def test_what_is_recorded_is_found_asked_for_corrected_and_forgotten(home: Path) -> None:
    async def use() -> None:
        async with AsyncMemory.open(home=home) as memory:
            await memory.record(agent="ada", session="s", role="user", text="the cage is turquoise", project="shop")
            many = [Turn("ada", "s", "assistant", f"noted {number}", project="shop") for number in range(3)]
            ids = await memory.record_many(many)
            old = await memory.remember("the port is 5432", project="shop")
            await memory.settle()
            assert [each.text for each in await memory.search("cage", project="shop", k=1)] == ["the cage is turquoise"]
            assert "turquoise" in (await memory.context("which colour has the cage", "shop")).text
            assert (await memory.ask("which colour has the cage", "shop", model=False)).known
            new = await memory.correct(old, "the port is 5433")
            await memory.settle()
            await memory.pin(new)
            await memory.settle()
            assert [(each.id, each.pinned) for each in await memory.memories("shop") if each.made_by == "person"] == [(new, True)]
            assert [each.id for each in await memory.turns("s")][1:] == ids
            assert {each.session for each in await memory.sessions("shop")} == {"s", "kept shop", "kept name:shop"}
            assert new in [each.memory.id async for each in memory.subscribe(timeout=0)]
            assert (await memory.forget(id=ids[0])).turns == 1
            with pytest.raises(NotFound):
                await memory.show(ids[0])
            with pytest.raises(UsageError):
                await memory.record(agent="ada", session="s", role="nobody", text="x")

    asyncio.run(use())


def test_many_that_are_awaited_together_are_all_kept(home: Path) -> None:
    async def use() -> int:
        async with AsyncMemory.open(home=home) as memory:
            ids = await asyncio.gather(*(
                memory.record(agent="ada", session="s", role="user", text=f"marmoset {number}") for number in range(200)
            ))  # fmt: skip
            await memory.settle()
            found = await asyncio.gather(*(memory.turns("s") for _ in range(8)))
            assert {frozenset(each.id for each in turns) for turns in found} == {frozenset(ids)}
            return len(set(ids))

    assert asyncio.run(use()) == 200


def test_who_waits_for_news_can_be_cancelled_and_holds_no_thread(home: Path) -> None:
    async def use() -> list[str]:
        async with AsyncMemory.open(home=home) as memory:
            await memory.remember("one is turquoise")
            await memory.settle()
            told: list[str] = []

            async def listen() -> None:
                async for each in memory.subscribe(every=0.01):
                    told.append(each.memory.text)

            listeners = [asyncio.create_task(listen()) for _ in range(8)]  # more than there are threads
            while len(told) < 8:
                await asyncio.sleep(0)
            await memory.remember("two is mauve")
            await memory.settle()
            while len(told) < 16:
                await asyncio.sleep(0)
            for each in listeners:
                each.cancel()
            await asyncio.gather(*listeners, return_exceptions=True)
            return sorted(told)

    assert asyncio.run(use()) == ["one is turquoise"] * 8 + ["two is mauve"] * 8
