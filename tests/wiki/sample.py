"""A wiki as it is compiled, small or as large as a test wants it: path -> text."""

from __future__ import annotations

from hindbrain.wiki.finding import Knowledge, Known, fingerprint
from hindbrain.wiki.page import State


def page(
    path: str, title: str, *, points: tuple[str, ...] = (), related: tuple[str, ...] = (), sources: tuple[str, ...] = (),
    front: str = "", body: str = "",
) -> str:  # fmt: skip
    """An article in the form that pages have. Points end in their marks; sources are "day session mark mark"."""
    prefix = {"concepts": "c", "connections": "x", "qa": "q", "projects": "p"}[path.split("/")[0]]
    marks = ", ".join(point.rpartition("^")[2] for point in points)
    said = [f"- 2026-03-02 claude-code, [[daily/2026-03-02#^s-1a2b3c4d|session 1a2b3c4d]]: `e_1` ({marks})"] if points else []
    parts = [
        f"---\nid: {prefix}-{path}\ntitle: {title}\ntags: [work]\nsources: 1\ncreated: 2026-03-02\nupdated: 2026-03-09",
        f"confidence: 0.8\n{front}---\n\n# {title}\n",
        *([body] if body else []),
        *(["## Key points\n", *(f"- {point}" for point in points), ""] if points else []),
        *(["## Related\n", *(f"- [[{each}]]" for each in related), ""] if related else []),
        *(["## Sources\n", *(sources or said), ""] if points else []),
    ]
    return "\n".join(parts)


DAY = """---
id: daily-2026-03-02
title: 2026-03-02
---

# 2026-03-02

## 14:05 claude-code in api-server (main) ^s-1a2b3c4d

### Decisions

- Use PostgreSQL for the ledger. ^m-77aa
"""


def sound() -> dict[str, str]:
    """Three articles, a day and an index, with nothing wrong."""
    return {
        "index.md": "---\nid: index\ntitle: Index\n---\n\n# Index\n\n## Concepts\n\n- [[concepts/postgresql|PostgreSQL]]\n"
                    "- [[concepts/backups|Backups]]\n\n## Connections\n\n- [[connections/both|Both]]\n",
        "daily/2026-03-02.md": DAY,
        "concepts/postgresql.md": page(
            "concepts/postgresql.md", "PostgreSQL", points=("Staging runs PostgreSQL 16. ^m-5b1c", "Use PostgreSQL. ^m-77aa"),
            related=("connections/both|Both",), front="aliases: [Postgres]\n",
        ),
        "concepts/backups.md": page(
            "concepts/backups.md", "Backups", points=("Backups run at night. ^m-9cd0", "They are kept for a year. ^m-9cd1"),
            related=("connections/both|Both",),
        ),
        "connections/both.md": page(
            "connections/both.md", "Both", points=("Staging runs PostgreSQL 16. ^m-5b1c", "Backups run at night. ^m-9cd0"),
            related=("concepts/postgresql|PostgreSQL", "concepts/backups|Backups"),
        ),
    }  # fmt: skip


def known(texts: dict[str, str], **states: State) -> Knowledge:
    """A ledger that knows every memory of the sample, each current unless something else is said."""
    memories = {f"m_{each}": Known("current") for each in ("5b1c", "77aa", "9cd0", "9cd1")}
    memories |= {name: Known(state, "m_new" if state == "superseded" else "") for name, state in states.items()}
    return Knowledge(memories, {path: fingerprint(text) for path, text in texts.items()}, {"s-1a2b3c4d"})


def large(count: int) -> dict[str, str]:
    """As many articles as asked for, each with ten statements and links to its neighbours and to a day; and an index."""
    texts: dict[str, str] = {}
    for number in range(count):
        near = [(number + step) % count for step in (1, 2, count - 1, count - 2)]
        points = tuple(f"Service {number} keeps `value {at}` for {at} days, as agreed. ^m-{number:x}a{at:x}" for at in range(10))
        related = tuple(f"concepts/topic-{each}|Topic {each}" for each in near)
        path = f"concepts/topic-{number}.md"
        texts[path] = page(path, f"Topic {number}", points=points, related=related)
    entries = "\n".join(f"- [[concepts/topic-{number}|Topic {number}]]" for number in range(count))
    return texts | {"daily/2026-03-02.md": DAY, "index.md": f"# Index\n\n## Concepts\n\n{entries}\n"}
