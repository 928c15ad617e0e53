"""A LlamaIndex chat that goes on after a restart. Needs `hindbrain[llama-index]`; the model here repeats what it is told."""

import sys
import tempfile

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockLLM

from hindbrain import Memory
from hindbrain.adapters.llama_index import HindbrainMemory


def main(home: str) -> None:
    for prompt in ("Staging listens on 5433.", "Which port has staging?"):
        with Memory.open(home=home) as memory:
            chat = HindbrainMemory.from_defaults(memory=memory, session="ticket 42", project="shop")
            engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=chat)
            print("5433" in str(engine.chat(prompt)))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else scratch)
