"""Sessions of the OpenAI Agents SDK on a memory, held against the SDK's own, and under an agent that runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain import Memory
from tests.adapters.frameworks import need

need("agents")

from agents import Agent, Model, ModelResponse, RunConfig, Runner, SessionSettings, SQLiteSession, Usage, function_tool  # noqa: E402
from agents.memory import Session  # noqa: E402
from openai.types.responses import (  # noqa: E402
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from hindbrain.adapters.openai_agents import HindbrainSession, item_of  # noqa: E402

ITEMS: list[Any] = [
    {"role": "user", "content": "the cage is turquoise"},
    {"role": "user", "content": [{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": "data:x"}]},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "c1", "name": "port_of", "arguments": '{"name": "staging"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "5433"},
    {"type": "message", "role": "assistant", "id": "m1", "status": "completed",
     "content": [{"type": "output_text", "text": "it is 5433", "annotations": []}]},
]  # fmt: skip


class Scripted(Model):
    """Replies from a list, and keeps what it was asked."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.asked: list[Any] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> Any:
        self.asked.append(input)
        return ModelResponse(output=[self.replies.pop(0)], usage=Usage(), response_id=None)

    async def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError
        yield


def said(text: str) -> Any:
    content: list[Any] = [ResponseOutputText(text=text, type="output_text", annotations=[])]
    return ResponseOutputMessage(id="m", role="assistant", status="completed", type="message", content=content)


def called(name: str, arguments: str) -> Any:
    return ResponseFunctionToolCall(id="f", call_id="c9", name=name, arguments=arguments, type="function_call")


def test_it_is_a_session_of_the_sdk(memory: Memory) -> None:
    assert isinstance(HindbrainSession("s", memory), Session)


def test_it_answers_as_the_sdks_own_session_does(memory: Memory) -> None:
    async def story(session: Any) -> list[Any]:
        found: list[Any] = [await session.get_items(), await session.pop_item()]
        await session.add_items(ITEMS[:4])
        await session.add_items([])
        await session.add_items(ITEMS[4:])
        found += [await session.get_items(), await session.get_items(2), await session.get_items(0), await session.get_items(99)]
        found += [await session.pop_item(), await session.get_items()]
        await session.add_items(ITEMS[-1:])
        found += [await session.get_items(1)]
        await session.clear_session()
        found += [await session.get_items()]
        await session.add_items(ITEMS[:1])
        return [*found, await session.get_items()]

    ours = asyncio.run(story(HindbrainSession("s", memory)))
    assert ours == asyncio.run(story(SQLiteSession("s")))


def test_settings_limit_what_is_told(memory: Memory) -> None:
    async def use() -> list[Any]:
        session = HindbrainSession("s", memory, session_settings=SessionSettings(limit=2))
        await session.add_items(ITEMS)
        return await session.get_items()

    assert asyncio.run(use()) == ITEMS[-2:]


def test_sessions_of_other_names_and_agents_are_apart(memory: Memory) -> None:
    async def use() -> list[list[Any]]:
        sessions = [HindbrainSession("s", memory), HindbrainSession("t", memory), HindbrainSession("s", memory, agent="other")]
        for number, each in enumerate(sessions):
            await each.add_items([{"role": "user", "content": f"{number}"}])
        await sessions[0].clear_session()
        return [await each.get_items() for each in sessions]

    assert asyncio.run(use()) == [[], [{"role": "user", "content": "1"}], [{"role": "user", "content": "2"}]]


@pytest.mark.parametrize(("raw", "role", "text"), [
    (ITEMS[0], "user", "the cage is turquoise"), (ITEMS[1], "user", "look"), (ITEMS[2], "assistant", "hm"),
    (ITEMS[3], "tool_call", 'port_of {"name": "staging"}'), (ITEMS[4], "tool_result", "5433"),
    (ITEMS[5], "assistant", "it is 5433"), ({"role": "system", "content": "be nice"}, "tool_result", "be nice"),
    ({"type": "never heard of"}, "tool_result", ""), ({}, "tool_result", ""),
])  # fmt: skip
def test_each_item_is_a_turn_of_who_said_it(raw: dict[str, Any], role: str, text: str) -> None:
    item = item_of(raw)
    assert (item.role, item.text, item.raw) == (role, text, raw)


def test_an_agent_goes_on_after_a_restart_and_what_it_said_is_found(home: Path) -> None:
    @function_tool
    def port_of(name: str) -> str:
        """The port of a machine."""
        return f"{name} listens on 5433"

    def run(model: Scripted, prompt: str) -> str:
        with Memory.open(home=home) as memory:
            agent = Agent(name="ada", instructions="be brief", model=model, tools=[port_of])
            session = HindbrainSession("ticket", memory, agent="ada", project="shop")
            config = RunConfig(tracing_disabled=True)
            return str(asyncio.run(Runner.run(agent, prompt, session=session, run_config=config)).final_output)

    assert run(Scripted(called("port_of", '{"name": "staging"}'), said("it is 5433")), "which port has staging?") == "it is 5433"
    later = Scripted(said("as I said, 5433"))
    assert run(later, "say it again") == "as I said, 5433"
    kinds = [each.get("type", each.get("role")) for each in later.asked[0]]
    assert kinds == ["user", "function_call", "function_call_output", "message", "user"]
    with Memory.open(home=home) as memory:
        memory.settle()
        assert "staging listens on 5433" in {hit.text for hit in memory.search("staging port", project="shop")}
        assert [each.role for each in memory.turns("ticket")] == [
            "user", "tool_call", "tool_result", "assistant", "user", "assistant",
        ]  # fmt: skip
