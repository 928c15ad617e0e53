"""LlamaIndex memories on a memory, held against LlamaIndex's own, and under a chat engine that runs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from hindbrain import Memory
from tests.adapters.frameworks import need

need("llama_index.core")

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, MessageRole, TextBlock  # noqa: E402
from llama_index.core.chat_engine import SimpleChatEngine  # noqa: E402
from llama_index.core.llms.mock import MockLLM  # noqa: E402
from llama_index.core.memory import ChatMemoryBuffer  # noqa: E402
from llama_index.core.memory.types import BaseMemory  # noqa: E402

from hindbrain.adapters.llama_index import HindbrainMemory  # noqa: E402

SAID = [
    ChatMessage("which port has staging?", role="user"),
    ChatMessage(role="assistant", content="", additional_kwargs={"tool_calls": [{"id": "c1", "name": "port_of"}]}),
    ChatMessage("5433", role="tool", additional_kwargs={"tool_call_id": "c1"}),
    ChatMessage("it is 5433", role="assistant"),
    ChatMessage(role="user", blocks=[TextBlock(text="look"), ImageBlock(url="https://example.org/a.png")]),
]


def made(memory: Memory, **options: Any) -> Any:
    return HindbrainMemory.from_defaults(memory=memory, session="s", project="shop", **options)


def test_it_answers_as_llama_indexs_own_memory_does(memory: Memory) -> None:
    def story(chat: BaseMemory) -> list[Any]:
        found = [chat.get_all(), chat.get()]
        for each in SAID[:2]:
            chat.put(each)
        chat.put_messages(SAID[2:4])
        found += [chat.get(), chat.get_all(), chat.get("staging")]
        chat.set([*SAID])  # goes on
        found += [chat.get_all()]
        chat.set(SAID[3:])  # begins anew
        found += [chat.get_all()]
        chat.reset()
        found += [chat.get_all()]
        chat.put(SAID[0])
        return [*found, chat.get_all()]

    assert story(made(memory)) == story(ChatMemoryBuffer.from_defaults(token_limit=100_000))


def test_setting_what_only_goes_on_forgets_nothing(memory: Memory) -> None:
    chat = made(memory)
    chat.put_messages(SAID[:2])
    memory.settle()
    before = [each.id for each in memory.turns("s")]
    chat.set(SAID)
    assert chat.get_all() == SAID
    assert [each.id for each in memory.turns("s")][:2] == before


def test_a_limit_gives_the_newest_and_no_result_without_its_call(memory: Memory) -> None:
    chat = made(memory, limit=3)
    chat.put_messages(SAID)
    assert chat.get() == SAID[3:]
    assert chat.get_all() == SAID
    assert made(memory, limit=0).get() == []


def test_a_question_is_told_what_other_sessions_know_in_a_fence(memory: Memory) -> None:
    memory.record(agent="bob", session="other", role="user", text="the marmoset cage is turquoise", project="shop")
    memory.settle()
    chat = made(memory, budget_tokens=500)
    chat.put(ChatMessage("hello", role="user"))
    first, second = chat.get("which colour has the marmoset cage?")
    assert first.role == MessageRole.SYSTEM and second.content == "hello"
    assert first.content.startswith("<hindbrain-memory") and "bob" in first.content and "turquoise" in first.content
    assert [each.content for each in chat.get()] == ["hello"]


def test_async_calls_work(memory: Memory) -> None:
    async def use() -> list[Any]:
        chat = made(memory)
        await chat.aput(SAID[0])
        await chat.aput_messages(SAID[1:])
        return list(await chat.aget())

    assert asyncio.run(use()) == SAID


def test_a_chat_goes_on_after_a_restart(home: Path) -> None:
    for prompt in ("the cage is turquoise", "which colour has it?"):
        with Memory.open(home=home) as memory:
            engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=made(memory))
            engine.chat(prompt)
    with Memory.open(home=home) as memory:
        said = made(memory).get_all()
        assert [(each.role.value, each.content) for each in said][:3:2] == [
            ("user", "the cage is turquoise"), ("user", "which colour has it?"),
        ]  # fmt: skip
        assert "the cage is turquoise" in str(said[3].content)  # the model was told, and says what it was told
