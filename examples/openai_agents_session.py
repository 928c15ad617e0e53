"""A session of the OpenAI Agents SDK that lasts and can be searched. Needs `hindbrain[openai-agents]`, and no key.

No model is called here. With one, hand the session to the runner: `Runner.run(agent, prompt, session=session)`.
"""

import asyncio
import sys
import tempfile

from agents.memory import Session

from hindbrain import Memory
from hindbrain.adapters.openai_agents import HindbrainSession


async def main(home: str) -> None:
    with Memory.open(home=home) as memory:
        session: Session = HindbrainSession("ticket 42", memory, agent="ada", project="shop")
        await session.add_items([{"role": "user", "content": "Staging listens on 5433."}])
        memory.settle()
    with Memory.open(home=home) as memory:
        session = HindbrainSession("ticket 42", memory, agent="ada", project="shop")
        print(await session.get_items())
        print([hit.text for hit in memory.search("which port has staging?", project="shop")])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else scratch))
