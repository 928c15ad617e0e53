"""A Pydantic AI agent that goes on after a restart. Needs `hindbrain[pydantic-ai]`; the model here is a function, so no key."""

import sys
import tempfile

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from hindbrain import Memory
from hindbrain.adapters.pydantic_ai import MessageHistory


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    return ModelResponse([TextPart(f"I was told {len(messages)} messages.")])


def main(home: str) -> None:
    agent = Agent(FunctionModel(model))
    for prompt in ("Staging listens on 5433.", "Which port has staging?"):
        with Memory.open(home=home) as memory:
            history = MessageHistory("ticket 42", memory, project="shop")
            result = agent.run_sync(prompt, message_history=history.messages())
            history.add(result.new_messages())
            print(result.output)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else scratch)
