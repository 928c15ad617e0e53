"""Record what was said, keep a decision, ask for both: `python examples/remember.py [HOME]`."""

import sys
import tempfile

from hindbrain import Memory, Turn


def main(home: str) -> None:
    with Memory.open(home=home) as memory:
        memory.record_many([
            Turn("ada", "monday", "user", "The staging database listens on port 5433.", project="shop"),
            Turn("ada", "monday", "assistant", "Noted; production stays on 5432.", project="shop"),
        ])  # fmt: skip
        decision = memory.remember("Cages are turquoise", kind="decision", project="shop")
        memory.settle()

        for hit in memory.search("which port has staging?", k=1, project="shop"):
            print(f"found: {hit.text}")
        answer = memory.ask("which colour do cages have?", "shop", model=False)
        print(f"known: {answer.known}")

        better = memory.correct(decision, "Cages are mauve")
        memory.settle()
        print(f"corrected: {[each.text for each in memory.memories('shop') if each.id in (decision, better)]}")
        print(memory.context("what colour is a cage?", "shop", 300).text.splitlines()[-2].split("] ")[1][11:])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else scratch)
