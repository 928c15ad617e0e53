"""No text makes a rule take more than linear time: twice the text, about twice the work."""

from __future__ import annotations

import time

import pytest

from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import RULES, Rule, redact
from hindbrain.base.redact import _spans as spans_of
from tests.security.hostile import fill, hostile_texts
from tests.security.redaction_examples import cases

# Linear work gives a ratio of 2, quadratic work 4. One calm measurement is proof enough, so a noisy one is repeated.
MOST = 3.0
TRIES = 6


def seconds(rule: Rule, text: bytes) -> float:
    folded = text.lower()
    start = time.process_time()
    spans_of(rule, text, folded)
    return time.process_time() - start


def is_linear(rule: Rule, small: bytes, large: bytes) -> bool:
    for _ in range(TRIES):
        first, second = seconds(rule, small), seconds(rule, large)
        if second < 0.002 or second / max(first, 1e-9) < MOST:
            return True
    return False


def slow_texts(rule: Rule, small: int, large: int) -> list[str]:
    pairs = zip(hostile_texts(rule, small), hostile_texts(rule, large), strict=True)
    return [label for (label, short), (_, long) in pairs if not is_linear(rule, short, long)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_linear_on_text_made_against_it(rule: Rule) -> None:
    assert slow_texts(rule, 1 << 14, 1 << 15) == []


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_linear_on_megabytes_made_against_it(rule: Rule) -> None:
    assert slow_texts(rule, 1 << 20, 1 << 21) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "run", ["A", "<private>", "-----BEGIN PRIVATE KEY-----\n", '["<private>","</private>"],', '"<private>",']
)
def test_the_whole_engine_is_linear(run: str) -> None:
    everything = b" ".join(case.text.encode() for case in cases())
    ratios = []
    for _ in range(TRIES):
        taken = []
        for size in (1 << 19, 1 << 20):
            text = b'{"a": [' + fill(run.encode(), size // 2) + fill(everything, size // 2)
            start = time.process_time()
            redact(text)
            taken.append(time.process_time() - start)
        ratios.append(taken[1] / taken[0])
        if ratios[-1] < MOST:
            return
    assert ratios == []


@pytest.mark.parametrize(
    "piece", [b"token ", b"@", b"://", b"_", b"-", b"pwd", b"\\u00", b"--token", b"key-", b"://a@"]
)
def test_the_first_look_is_linear(piece: bytes) -> None:
    ratios = []
    for _ in range(TRIES):
        taken = []
        for size in (1 << 17, 1 << 18):
            text = fill(piece, size)
            start = time.process_time()
            suspicious(text)
            taken.append(time.process_time() - start)
        ratios.append(taken[1] / max(taken[0], 1e-9))
        if ratios[-1] < MOST or taken[1] < 0.002:
            return
    assert ratios == []
