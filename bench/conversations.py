"""Public conversations with known answers -> stores to fill and questions to ask of them.

The data lies in a folder beside the repository and is never copied into it. LoCoMo: one store per conversation, evidence is
turns. LongMemEval: what users said; R48 gives each question a store of its own with 48 sessions, POOL puts all sessions into
one; sessions of equal user text are one. LONG48 and LONGPOOL are the same with the replies, which are thousands of letters
long, recorded too. Questions without a user's turn that answers them, and those that have no answer, are left out.
"""

from __future__ import annotations

import functools
import gzip
import json
import random
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
LOCOMO, LONGMEMEVAL = "locomo_dev.json.gz", "longmemeval_oracle_dev.json.gz"
SETS = ("locomo", "r48", "pool", "long48", "longpool")
HAYSTACK = 48
# Questions that ask for what was, not for what is.
PAST = re.compile(
    r"\b(first|earlier|previous|previously|initial|initially|original|originally|before|ago|between|order|prior|old|used to)\b"
)


@dataclass(frozen=True)
class Turn:
    """A line to be recorded."""

    session: str
    key: str
    role: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Question:
    """What is asked, and the keys of the turns that hold the answer."""

    name: str
    text: str
    gold: frozenset[str]
    newest: str = ""  # of questions about the present whose answer changed: the session with the newest

    @property
    def sessions(self) -> set[str]:
        return {key.rsplit("#", 1)[0] for key in self.gold}


@dataclass(frozen=True)
class Store:
    """What one home is to hold, and what it is asked."""

    agent: str
    project: str
    turns: list[Turn]
    questions: list[Question]


def missing() -> list[str]:
    """Names of the files that are not there."""
    return [name for name in (LOCOMO, LONGMEMEVAL) if not (DATA / name).is_file()]


def load(name: str) -> Any:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def moment(text: str) -> datetime:
    for form in ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d"):
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime(2024, 1, 1, tzinfo=UTC)


def count(name: str) -> int:
    """Of how many stores a set consists."""
    if name == "locomo":
        return len(_locomo())
    return len(longmemeval().questions) if name.endswith("48") else 1


def store(name: str, number: int) -> Store:
    """One of them."""
    if name == "locomo":
        return _locomo_store(_locomo()[number])
    roles = ("user", "assistant") if name.startswith("long") else ("user",)
    data = longmemeval()
    if name.endswith("pool"):
        return Store("lme", "lme", data.turns(data.sessions, roles), [question for question, _ in data.questions])
    question, evidence = data.questions[number]
    return Store("lme", "lme", data.turns(data.haystack(question, evidence), roles), [question])


@functools.cache
def _locomo() -> list[dict[str, Any]]:
    return list(load(LOCOMO))


def _locomo_store(conversation: dict[str, Any]) -> Store:
    talk = conversation["conversation"]
    names = sorted((name for name in talk if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name.split("_")[1]))
    turns = []
    for name in names:
        start = moment(talk.get(f"{name}_date_time", ""))
        for number, said in enumerate(talk[name]):
            caption = f" [shares {said['blip_caption']}]" if said.get("blip_caption") else ""
            role = "user" if said["speaker"] == talk.get("speaker_a") else "assistant"
            text = f"{said['speaker']}: {said['text']}{caption}"
            turns.append(Turn(name, said["dia_id"], role, text, start + timedelta(seconds=20 * number)))
    known = {turn.key for turn in turns}
    questions = [
        Question(f"{conversation['sample_id']}/{number}", asked["question"], gold)
        for number, asked in enumerate(conversation["qa"])
        if asked["category"] in (1, 2, 3, 4) and (gold := _evidence(asked) & known)
    ]  # fmt: skip
    return Store("locomo", conversation["sample_id"], turns, questions)


def _evidence(asked: dict[str, Any]) -> frozenset[str]:
    """Ids are not always written the same way, and some strings hold several."""
    named = [pair for each in asked.get("evidence", []) for pair in re.findall(r"D:?(\d+):(\d+)", each)]
    return frozenset(f"D{int(session)}:{int(turn)}" for session, turn in named)


@functools.cache
def longmemeval() -> LongMemEval:
    return LongMemEval(load(LONGMEMEVAL))


class LongMemEval:
    """Its sessions, when they were, and the questions with the sessions that belong to each."""

    def __init__(self, data: list[dict[str, Any]]) -> None:
        self.sessions: dict[str, list[dict[str, Any]]] = {}
        self.dates: dict[str, datetime] = {}
        self._name: dict[str, str] = {}
        by_text: dict[str, str] = {}
        asked = [each for each in data if "_abs" not in each["question_id"]]
        for each in asked:
            for name, date, session in zip(
                each["haystack_session_ids"], each["haystack_dates"], each["haystack_sessions"], strict=True
            ):
                text = " ".join(turn["content"] for turn in session if turn["role"] == "user")
                first = self._name[name] = by_text.setdefault(text, name)
                self.sessions.setdefault(first, session)
                self.dates.setdefault(first, moment(date))
        self.questions = [
            (self._question(each, gold), {self._name[name] for name in each["haystack_session_ids"]})
            for each in asked if (gold := self._gold(each))
        ]  # fmt: skip

    def _gold(self, asked: dict[str, Any]) -> frozenset[str]:
        pairs = zip(asked["haystack_session_ids"], asked["haystack_sessions"], strict=True)
        return frozenset(
            f"{self._name[name]}#{number}" for name, session in pairs
            for number, turn in enumerate(session) if turn["role"] == "user" and turn.get("has_answer")
        )  # fmt: skip

    def _question(self, asked: dict[str, Any], gold: frozenset[str]) -> Question:
        plain = Question(asked["question_id"], asked["question"], gold)
        changed = asked["question_type"] == "knowledge-update" and len({self.dates[name] for name in plain.sessions}) > 1
        if not changed or PAST.search(asked["question"].lower()):
            return plain
        return Question(plain.name, plain.text, gold, max(plain.sessions, key=lambda name: self.dates[name]))

    def turns(self, names: Iterable[str], roles: tuple[str, ...]) -> list[Turn]:
        return [
            Turn(name, f"{name}#{number}", turn["role"], turn["content"], self.dates[name] + timedelta(seconds=60 * number))
            for name in sorted(names, key=lambda name: self.dates[name])
            for number, turn in enumerate(self.sessions[name]) if turn["role"] in roles and turn["content"].strip()
        ]  # fmt: skip

    def haystack(self, question: Question, evidence: set[str]) -> list[str]:
        others = [name for name in sorted(self.sessions) if name not in evidence]
        return [*sorted(evidence), *random.Random("q" + question.name).sample(others, max(0, HAYSTACK - len(evidence)))]
