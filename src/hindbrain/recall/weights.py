"""The parts of a score -> what each counts: one set for all data.

Every part lies between 0 and 1 before it is weighted, so a weight is the most that a part can give or take. What each is
for and what it is worth on development data is in docs/ranking.md; scripts/train_weights.py fits the same parts by program, to
hold these against. They are rounded to one decimal on purpose: a second one would only follow the data they were looked at with.
"""

from __future__ import annotations

from typing import Final

WEIGHTS: Final[dict[str, float]] = {
    "words": 0.7,  # BM25 of its own words, and at rank.NEAR_WEIGHT of its neighbours'
    "session": 0.2,  # how well the words of its session fit
    "meaning": 0.8,  # likeness of its best passage's vector
    "session_meaning": 0.6,  # likeness of the best passages of its session
    "tokens": 1.0,  # word by word likeness (MaxSim), of the first COMPARED alone
    "speaker": 1.0,  # the question names who said it
    "reply": 0.5,  # answers a question of another that fits
    "question": -0.2,  # asks rather than tells
    "literal": 1.2,  # holds the path, identifier, code, number or quoted words of the question
    "date": 0.5,  # said in the time the question names
    "long_reply": -0.6,  # people's own words before long replies
    "tool": -0.8,  # and before what tools were told and printed
    "memory": 0.3,  # a statement worth keeping stands a little before a turn that fits as well
    "superseded": -0.8,  # no longer holds, or is what a statement that no longer holds rests on
    "use": 1.0,  # what was told and then used rises, what was not sinks, age takes a little: a tenth of the score at most
}
