"""Answers a person wanted kept -> pages below `qa/`, linked both ways with the pages whose statements they rest on.

An answer is kept as it was given, with the ids it cites. The statements it rests on are rendered from the ledger like those of
any page: one that was replaced since is struck out below the answer that still says it, and the page says of which day the
answer is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import Final

from hindbrain.base.errors import StorageError
from hindbrain.base.files import ensure_private_dir, read_private, replace_file
from hindbrain.wiki import names
from hindbrain.wiki.page import FOLDERS, Material, Page
from hindbrain.wiki.render import day
from hindbrain.wiki.sections import sections
from hindbrain.wiki.text import escaped, folded, mark

FOLDER: Final = "questions"
MOST_RELATED: Final = 8
TITLE_LETTERS: Final = 120
QUOTE_LETTERS: Final = 300
_LINKED: Final = frozenset({"concept", "connection", "project"})


@dataclass(frozen=True, slots=True)
class Quote:
    """A turn that was evidence."""

    id: str
    by: str  # who said it
    at: int
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the answer it got."""

    question: str
    at: int
    made_by: str  # "evidence", or the model
    project: str | None  # id
    sentences: tuple[tuple[str, tuple[str, ...]], ...]  # text and ids; none where the evidence stands for itself
    memories: tuple[str, ...]  # ids
    quotes: tuple[Quote, ...]
    turns: tuple[str, ...] = ()  # ids: where its memories were said

    @property
    def id(self) -> str:
        """The same question about the same project is the same page, with the newer answer."""
        return "q-" + names.hashed(f"{self.project or ''}\n{folded(self.question).casefold().rstrip('?!. ')}")

    @property
    def grounds(self) -> frozenset[str]:
        """The turns it rests on in the end. An answer without one of them is to be forgotten."""
        return frozenset({*self.turns, *(quote.id for quote in self.quotes)})

    @property
    def cited(self) -> frozenset[str]:
        """Everything it names."""
        said = {each for _, ids in self.sentences for each in ids}
        return frozenset({*said, *self.memories, *self.grounds})


def keep(folder: Path, asked: Asked) -> Path:
    """Write an answer down; the older one to the same question goes."""
    ensure_private_dir(folder)
    file = folder / f"{asked.id}.json"
    replace_file(file, json.dumps(asdict(asked), ensure_ascii=False, indent=1).encode("utf-8", "replace") + b"\n")
    return file


def kept(folder: Path) -> list[Asked]:
    """All answers, the oldest first."""
    found = [_read(file) for file in sorted(folder.glob("q-*.json"))]
    return sorted(found, key=lambda asked: (asked.at, asked.id))


def drop(folder: Path, asked: Iterable[Asked]) -> None:
    """Take answers away whose evidence is gone."""
    for each in asked:
        (folder / f"{each.id}.json").unlink(missing_ok=True)


def _read(file: Path) -> Asked:
    data = read_private(file) or b""
    try:
        row = json.loads(data)
        said = tuple((str(text), tuple(map(str, ids))) for text, ids in row["sentences"])
        quotes = tuple(Quote(str(one["id"]), str(one["by"]), int(one["at"]), str(one["text"])) for one in row["quotes"])
        project = None if row["project"] is None else str(row["project"])
        memories, turns = tuple(map(str, row["memories"])), tuple(map(str, row["turns"]))
        return Asked(str(row["question"]), int(row["at"]), str(row["made_by"]), project, said, memories, quotes, turns)
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{file} does not hold an answer: {error}", path=str(file),
                           hint="move it away; the page it made stays where it is") from error  # fmt: skip


def on(pages: Mapping[str, Page], asked: Sequence[Asked], material: Material, zone: tzinfo = UTC) -> dict[str, Page]:
    """All pages with those of the answers, and links both ways."""
    found = dict(pages)
    taken = {names.folded(page.path) for page in pages.values()}
    holding: dict[str, list[str]] = {}
    for page in pages.values():
        if page.type in _LINKED:
            for fact in (fact for section in page.sections for fact in section.facts):
                holding.setdefault(fact, []).append(page.id)
    for each in asked:
        page = _page(each, material, taken, holding, zone)
        taken.add(names.folded(page.path))
        found[page.id] = page
        for other in page.related:
            found[other] = replace(found[other], related=(*found[other].related, page.id))
    return found


def _page(asked: Asked, material: Material, taken: set[str], holding: Mapping[str, list[str]], zone: tzinfo) -> Page:
    facts = [material.facts[each] for each in asked.memories if each in material.facts]
    facts.sort(key=lambda fact: (fact.valid_from, fact.id))
    near = Counter(page for fact in facts for page in holding.get(fact.id, ()))
    related = sorted(near, key=lambda page: (-near[page], page))[:MOST_RELATED]
    title = folded(asked.question)
    title = title if len(title) <= TITLE_LETTERS else title[:TITLE_LETTERS].rsplit(" ", 1)[0] + "…"
    path = names.free(FOLDERS["qa"], names.slug(title), asked.id, taken)
    confidence = sum(fact.confidence for fact in facts) / len(facts) if facts else 0.0
    return Page(
        asked.id, "qa", path, title, tags=("question",), sections=sections(facts), related=tuple(related), created=asked.at,
        updated=asked.at, confidence=confidence, projects=(asked.project,) if asked.project else (),
        body=_body(asked, frozenset(fact.id for fact in facts), zone),
    )  # fmt: skip


def _body(asked: Asked, here: frozenset[str], zone: tzinfo) -> str:
    """The answer, of which day it is, and the turns it quotes."""
    by = "from the evidence below" if asked.made_by == "evidence" else f"by {escaped(asked.made_by)}"
    shown = here | {quote.id for quote in asked.quotes}
    said = " ".join(f"{escaped(text)} ({_cites(ids, shown)})" for text, ids in asked.sentences)
    parts = [said, f"Answered on {day(asked.at, zone)}, {by}."]
    lines = "\n".join(_quote(quote, zone) for quote in asked.quotes)
    return "\n\n".join(filter(None, (*parts, "## Said" if lines else "", lines)))


def _cites(ids: Sequence[str], shown: frozenset[str]) -> str:
    """A statement or turn that stands on the page is linked to."""
    return ", ".join(f"[[#{mark(each)}|{mark(each)[1:7]}]]" if each in shown else f"`{each}`" for each in ids)


def _quote(quote: Quote, zone: tzinfo) -> str:
    words = folded(quote.text)
    cut = words if len(words) <= QUOTE_LETTERS else words[:QUOTE_LETTERS].rstrip() + "…"
    return f"- {day(quote.at, zone)} {escaped(f'{quote.by}: {cut}')} {mark(quote.id)}"
