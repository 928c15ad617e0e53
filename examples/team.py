"""Two agents on one project: what one learned the other is told with its name; a board; messages: `python examples/team.py`."""

import sys
import tempfile

from hindbrain import Memory


def main(home: str) -> None:
    with Memory.open(home=home) as memory:
        memory.remember("Staging listens on 5433", project="shop", observer="ada", subject="staging")
        memory.remember("Write the migration", kind="task", project="shop", observer="bob")
        memory.remember("Cages are turquoise", kind="decision", project="shop")  # the user's own word
        memory.message("the migration waits for you", sender="ada", to="bob", team="crew", project="shop")
        memory.settle()

        board = memory.board("shop")
        for note in (*board.tasks, *board.decisions, *board.facts):
            print(f"{note.kind}: {note.text} ({note.by})")
        for message in memory.messages("crew", to="bob"):
            print(f"{message.agent} to bob: {message.text}")
        told = memory.context("which port has staging?", "shop", agent="bob").text
        print(next(line for line in told.splitlines() if "5433" in line).split(" ", 2)[2])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else scratch)
