"""One task records, another is told of each new memory and goes on where it stopped: `python examples/async_subscriber.py`."""

import asyncio
import sys
import tempfile

from hindbrain import AsyncMemory


async def listen(memory: AsyncMemory, after: str, count: int) -> str:
    """Print so many new memories; the position to go on from."""
    async for news in memory.subscribe(after, every=0.05):
        print(f"new: {news.memory.text}")
        after, count = news.position, count - 1
        if not count:
            break
    return after


async def main(home: str) -> None:
    async with AsyncMemory.open(home=home) as memory:
        listening = asyncio.create_task(listen(memory, "", 1))
        await memory.remember("The port is 5433", project="shop")
        await memory.settle()
        position = await listening
    async with AsyncMemory.open(home=home) as memory:  # after a restart
        await memory.remember("Cages are turquoise", project="shop")
        await memory.settle()
        await listen(memory, position, 1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else scratch))
