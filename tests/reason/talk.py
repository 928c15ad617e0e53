"""A conversation in short -> turns: who speaks is the first letter, ids are numbers from one."""

from __future__ import annotations

from hindbrain.ledger.statement import Said

_ROLES = {"u": "user", "a": "assistant", "c": "tool_call", "r": "tool_result", "e": "tool_result"}


def talk(*said: str) -> list[Said]:
    """`u: `, `a: `, `c: ` (a call in a shell), `r: ` (its result), `e: ` (a result that is an error)."""
    turns = []
    for number, line in enumerate(said, 1):
        who, text = line[0], line[3:]
        tool = "Bash" if who in "cre" else ""
        command = text if who == "c" else ""
        turns.append(Said(str(number), _ROLES[who], text, tool, error=who == "e", command=command))
    return turns
