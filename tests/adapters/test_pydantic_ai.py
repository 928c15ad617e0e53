"""Message histories of Pydantic AI on a memory: the same messages back, and an agent that goes on."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic_ai import Agent, BinaryContent
from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hindbrain import Memory
from hindbrain.adapters.pydantic_ai import MessageHistory

_MADE: list[ModelMessage] = [
    ModelRequest([SystemPromptPart("be brief"), UserPromptPart("which port has staging?")]),
    ModelResponse([ThinkingPart("hm"), ToolCallPart("port_of", {"name": "staging"}, "c1")]),
    ModelRequest([ToolReturnPart("port_of", {"port": 5433}, "c1")]),
    ModelResponse([TextPart("it is 5433")]),
    ModelRequest([UserPromptPart(["look", BinaryContent(b"\x00\xff", media_type="image/png")])]),
    ModelResponse([TextPart("I see")]),
]
MESSAGES = ModelMessagesTypeAdapter.validate_json(ModelMessagesTypeAdapter.dump_json(_MADE))  # as the library itself reads them


def test_messages_come_back_as_they_were(memory: Memory) -> None:
    history = MessageHistory("s", memory, agent="ada", project="shop")
    assert history.messages() == []
    history.add(MESSAGES[:2])
    history.add(MESSAGES[2:])
    assert history.messages() == MESSAGES
    assert [(each.role, each.text) for each in memory.turns("s")] == [
        ("user", "which port has staging?"), ("tool_call", 'port_of {"name":"staging"}'), ("tool_result", '{"port":5433}'),
        ("assistant", "it is 5433"), ("user", "look"), ("assistant", "I see"),
    ]  # fmt: skip


def test_a_limit_never_begins_with_the_result_of_a_call_that_is_not_told(memory: Memory) -> None:
    history = MessageHistory("s", memory)
    history.add(MESSAGES)
    assert history.messages(6) == history.messages(99) == MESSAGES
    assert history.messages(5) == history.messages(2) == MESSAGES[4:]
    assert history.messages(1) == history.messages(0) == history.messages(-1) == []


def test_what_is_cleared_is_gone_and_another_beginning_is_kept(memory: Memory, home: Path) -> None:
    history = MessageHistory("s", memory)
    history.add(MESSAGES[:4])
    history.clear()
    history.clear()
    assert history.messages() == []
    history.add(MESSAGES[4:])
    assert history.messages() == MESSAGES[4:]


def test_an_agent_goes_on_after_a_restart(home: Path) -> None:
    asked: list[list[ModelMessage]] = []

    def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(messages)
        last = messages[-1].parts[-1]
        if isinstance(last, UserPromptPart) and "port" in str(last.content):
            return ModelResponse([ToolCallPart("port_of", {"name": "staging"})])
        return ModelResponse([TextPart(f"said after {len(messages)} messages")])

    agent = Agent(FunctionModel(model))

    @agent.tool_plain
    def port_of(name: str) -> str:
        """The port of a machine."""
        return f"{name} listens on 5433"

    async def run(prompt: str) -> str:
        with Memory.open(home=home) as memory:
            history = MessageHistory("ticket", memory, agent="ada", project="shop")
            result = await agent.run(prompt, message_history=await history.amessages())
            await history.aadd(result.new_messages())
            return result.output

    assert asyncio.run(run("which port has staging?")) == "said after 3 messages"
    assert asyncio.run(run("say it again")) == "said after 5 messages"
    with Memory.open(home=home) as memory:
        memory.settle()
        assert "staging listens on 5433" in {hit.text for hit in memory.search("staging listens", project="shop")}
