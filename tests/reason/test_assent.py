"""What the user agreed to in words that no rule lists is told by learnt weights; refusals and other topics are not."""

from __future__ import annotations

import json
from importlib import resources
from math import isfinite

import pytest

from hindbrain.base.errors import EmbedderFailed
from hindbrain.reason.agreed import agreed
from hindbrain.reason.assent import assented, heard, likely, marks, meanings
from hindbrain.reason.replies import reply
from hindbrain.recall.static import Static
from tests.reason.talk import talk

FILE = resources.files("hindbrain.reason").joinpath("assent.json")
QUEUE = "I'd put the invoice mails into a queue of their own with three tries."


def test_the_weights_are_numbers_and_the_file_is_small() -> None:
    text = FILE.read_text("utf-8")
    weights = json.loads(text)
    assert weights.keys() == {"marks", "sentence", "answer"} and "always" in weights["marks"]
    assert len(weights["sentence"]) == len(weights["answer"]) == Static.load().dimensions
    assert all(map(isfinite, [*weights["marks"].values(), *weights["sentence"], *weights["answer"]]))
    assert len(text) < 300_000


@pytest.mark.parametrize(
    ("proposal", "yes", "text"),
    [
        (QUEUE, "Music to my ears.", "Put the invoice mails into a queue of their own with three tries"),
        (QUEUE, "you sold me", "Put the invoice mails into a queue of their own with three tries"),
        ("Ich würde die Rechnungen in einer eigenen Tabelle ablegen und nachts abgleichen.", "so soll es sein",
         "Die Rechnungen in einer eigenen Tabelle ablegen und nachts abgleichen"),
        ("Yo guardaría las facturas en una tabla aparte y las cotejaría de noche.", "me quedo con eso",
         "Las facturas en una tabla aparte y las cotejaría de noche"),
    ],
)  # fmt: skip
def test_a_yes_in_words_of_ones_own_decides(proposal: str, yes: str, text: str) -> None:
    assert not reply(yes).yes, "a rule knows this one"
    found = agreed(talk("u: and now?", f"a: {proposal}", f"u: {yes}"))
    assert [(each.kind, each.text, each.turns, each.trust, each.quote) for each in found] == [
        ("decision", text, ("2", "3"), "user", proposal)
    ]


@pytest.mark.parametrize(
    "user",
    ["who would look after it?", "outside of our remit", "unsure, honestly",
     "the printer is on fire again", "a ver qué dice el jefe", "", "   ", "?", "> that's the one", "\x00", "…" * 9],
)  # fmt: skip
def test_refusals_delays_and_other_topics_decide_nothing(user: str) -> None:
    assert agreed(talk("u: and now?", f"a: {QUEUE}", f"u: {user}")) == []


@pytest.mark.parametrize("agent", ["", "   ", "```\nrm -rf build\n```", "All tests pass now.", "The queue has 12 entries."])
def test_there_is_nothing_to_agree_to_where_nothing_was_put_forward(agent: str) -> None:
    assert agreed(talk("u: and now?", f"a: {agent}", "u: that's the one")) == []


def test_of_several_sentences_the_proposal_is_meant() -> None:
    text = f"The mails go out one by one today. {QUEUE} The old job can stay until then."
    offer = assented(text, "you have convinced me", "")
    assert offer is not None and text[offer.start : offer.end] == QUEUE


def test_a_reply_of_thousands_of_sentences_is_read_from_its_end() -> None:
    text = f"{'The mails go out one by one today. ' * 3000}{QUEUE}"
    every = heard(text, "you have convinced me " * 5000, "ok " * 50_000)
    assert len(every) == 40 and every[-1].sentence.text == QUEUE
    assert max(len(each.user) + len(each.after) for each in every) <= 800


def test_how_the_agent_goes_on_is_a_mark() -> None:
    (told,) = heard(QUEUE, "that's the one", "Good, the queue for invoice mails it is.")
    assert {"after good", "after begins good", "agent takes up 2", "says that's first", "proposes"} <= marks(told)
    (alone,) = heard(QUEUE, "that's the one", "")
    assert "after nothing" in marks(alone)


def test_unknown_marks_weigh_nothing_and_the_order_of_marks_changes_nothing() -> None:
    seen = sorted(marks(heard(QUEUE, "that's the one", "")[0]))
    assert likely(seen, 0.0) == likely([*reversed(seen), "a mark nobody has"], 0.0)


def test_without_the_table_of_meanings_marks_decide(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def gone() -> Static:
        raise EmbedderFailed("the table cannot be read: it is gone")

    monkeypatch.setattr(Static, "load", gone)
    assert meanings(heard(QUEUE, "that's the one", "")) == [0.0] and meanings([]) == []
    assert "told without its meaning" in caplog.text
