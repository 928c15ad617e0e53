"""A backend that remembers nothing, told before each prompt what was said before: `python examples/conversation.py`."""

import sys
import tempfile

from hindbrain import with_memory


def forgetful(prompt: str) -> str:
    """Stands for a call of a model: it knows what it is told, and nothing else."""
    return "It is 5433." if "5433" in prompt else "I do not know."


def main(home: str) -> None:
    print(forgetful("Which port has staging?"))
    ask = with_memory(forgetful, team="crew", agent="ada", base=home)
    ask("Staging listens on 5433.")
    print(ask("Which port has staging?"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(sys.argv[1] if len(sys.argv) > 1 else scratch)
