"""Questions about whole labelled sessions, as somebody who was there would ask them, and about things nobody spoke of."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from hindbrain.serve.memory import Memory

CORPUS = Path(__file__).resolve().parent.parent / "reason" / "corpus" / "tune_b"

# Question -> words of a turn that must be among the evidence.
ANSWERED: dict[str, dict[str, str]] = {
    "atlas-k8s-platform": {
        "which CNI do we use?": "Cilium", "which namespace is the pilot?": "docs", "may I use a prod context?": "prod",
        "who is on call?": "Oluwaseun", "how is nginx removed from a cluster?": "webhook",
        "which kubernetes version are the prods on?": "1.33", "how long are logs kept in loki?": "21",
        "what does dev run on?": "k3s", "what replaces ingress-nginx?": "Cilium", "how many ingresses do we have?": "61",
    },
    "parcel-events-go": {
        "why not kafka?": "babysit", "which port does intake listen on?": "8095", "may I edit files under gen by hand?": "gen/",
        "how long is dlq retention?": "14 days", "who owns the nightly importer?": "Tomasz",
        "how do I deploy to staging?": "staging", "what should commit messages look like?": "prefix",
        "which resolution do Brother printers accept?": "300 dpi",
        "who approves changes in contracts?": "Tomasz", "how do events go through now?": "outbox",
        "when do we ack in the labeler?": "confirmed", "how often do we poll the outbox?": "500ms",
        "what are the durables of labeler called?": "labeler-zebra", "may I use testify?": "testify",
    },
    "tabulate-oss-library": {
        "which python version is the floor?": "3.11", "how is a release made?": "towncrier",
        "are contributor PRs squashed?": "merge commits", "do we have runtime dependencies?": "zero",
        "where do the docs live?": "Read the Docs", "who has the second set of PyPI rights?": "Beno",
        "how should replies to contributors sound?": "warm and short", "does gridline escape html?": "html",
        "what do I owe hoshi-k?": "emoji",
    },
}  # fmt: skip
NEVER_SAID: dict[str, list[str]] = {
    "atlas-k8s-platform": [
        "which identity provider do we use?", "what is the monthly cost of the prod cluster?", "who owns the mobile app?",
        "what is the postgres backup schedule?", "which DNS provider do we use?", "how do I get VPN access?",
        "what did Bob say about terraform?", "when is the next offsite?", "what is the name of the staging bucket?",
        "how are database passwords rotated?",
    ],
    "parcel-events-go": [
        "which cloud region do we use?", "who is the CTO?", "what is the customer support phone number?",
        "which redis version do we run?", "how are invoices generated?", "what is the frontend written in?",
        "when does Tomasz go on vacation?", "what is the password of the staging database?",
        "how many parcels are shipped per day?", "which payment provider do we use?",
    ],
    "tabulate-oss-library": [
        "what is the discord invite link?", "how much money do sponsors give?", "which editor do I use?",
        "who designed the logo?", "what is the arxiv paper about?", "how fast is the rust port?", "when is pycon?",
        "which CI runner size do we pay for?",
    ],
}  # fmt: skip
# Three of them are answered from the wrong turn today; a change that loses more has made it worse.
MOST_MISSED = 5
MOST_MADE_UP = 1


def told(memory: Memory, story: str) -> str:
    """Every session of a story, recorded as it went; the project's name."""
    found = json.loads((CORPUS / f"{story}.json").read_text("utf-8"))
    for session in found["sessions"]:
        start = datetime.fromisoformat(session["started"])
        for number, turn in enumerate(session["turns"]):
            memory.record(
                agent="claude-code", session=session["session"], role=turn["role"], text=turn["text"], key=turn["key"],
                at=start + timedelta(minutes=number), project=found["project"],
            )  # fmt: skip
    memory.settle(300)
    return str(found["project"])


@pytest.mark.slow
def test_what_sessions_say_is_answered_and_what_they_do_not_is_not_known(tmp_path: Path) -> None:
    missed, made_up = [], []
    for story in ANSWERED:
        with Memory(tmp_path / story) as memory:
            project = told(memory, story)
            for question, words in ANSWERED[story].items():
                answer = memory.ask(question, project=project, model=False)
                if not answer.known or not any(words in each.found.text for each in answer.evidence):
                    missed.append(question)
            made_up += [each for each in NEVER_SAID[story] if memory.ask(each, project=project, model=False).known]
    assert len(missed) <= MOST_MISSED, missed
    assert len(made_up) <= MOST_MADE_UP, made_up
