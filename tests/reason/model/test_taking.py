"""What models write around their JSON, and what a lenient reader would let pass."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.reason.model.failures import WrongOutput
from hindbrain.reason.model.taking import MAX_CHARS, take

TAKEN = {
    "alone": '{"a": 1}',
    "space around it": '\n\t {"a": 1}\n',
    "a byte order mark": '\ufeff{"a": 1}',
    "a fence": '```json\n{"a": 1}\n```',
    "a fence without a name": '```\n{"a": 1}\n```',
    "a fence and words": 'Here you are:\n\n```json\n{"a": 1}\n```\nGood luck!',
    "words before and after": 'Sure. {"a": 1} That is all.',
    "a brace in the words": 'In {brackets}, the answer: {"a": 1}',
    "a fence inside of a string": '{"a": 1}',
}
REFUSED = {
    "empty": ("", "the reply is empty"),
    "nothing but space": (" \n", "the reply is empty"),
    "words": ("I found nothing.", "the reply holds no JSON object"),
    "a list": ("[1, 2]", "the reply holds no JSON object"),
    "two objects": ('{"a": 1} {"a": 2}', "the reply holds more than one JSON object"),
    "two in a fence": ('```json\n{"a": 1}\n{"b": 1}\n```', "the reply holds more than one JSON object"),
    "a name twice": ('{"a": 1, "a": 2}', "the reply is not valid JSON: a name stands twice in one object"),
    "a name twice, deep": ('{"b": [{"a": 1, "a": 2}]}', "the reply is not valid JSON: a name stands twice in one object"),
    "NaN": ('{"a": NaN}', "the reply is not valid JSON: NaN is no number"),
    "Infinity": ('{"a": -Infinity}', "the reply is not valid JSON: -Infinity is no number"),
    "a number beyond all": ('{"a": 1e999}', "the reply is not valid JSON: a number is too large"),
    "a number of 5000 digits": ('{"a": ' + "9" * 5000 + "}", "the reply is not valid JSON: a number is too large"),
    "broken off": ('{"a": [1, 2', "the reply is not valid JSON: Expecting ',' delimiter at character 11"),
    "a comma too many": ('{"a": 1,}', None),
    "single quotes": ("{'a': 1}", "the reply holds no JSON object"),
    "an inner object of a broken one": ('{"b": {"a": 1}, "c": tru', None),
    "nested too deeply": ('{"a": ' + "[" * 90_000, "the reply is not valid JSON: nested too deeply"),
    "too long": ('{"a": 1}' + " x" * MAX_CHARS, f"the reply is too long: {8 + 2 * MAX_CHARS} characters"),
}


@pytest.mark.parametrize("name", TAKEN)
def test_the_object_is_taken_out_of_what_stands_around_it(name: str) -> None:
    assert take(TAKEN[name]) == {"a": 1}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_one_object_is_refused_with_a_sentence_for_the_model(name: str) -> None:
    text, complaint = REFUSED[name]
    with pytest.raises(WrongOutput) as refused:
        take(text)
    assert complaint is None or refused.value.message == complaint


def test_a_fence_in_a_string_of_the_object_is_part_of_the_string() -> None:
    assert take('{"a": "```\\n{}\\n```"}') == {"a": "```\n{}\n```"}


@given(st.text(max_size=300))
def test_any_text_gives_an_object_or_a_complaint(text: str) -> None:
    try:
        assert isinstance(take(text), dict)
    except WrongOutput:
        pass


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**15), 10**15) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3), max_leaves=10,
)  # fmt: skip


@given(st.dictionaries(st.text(max_size=5), _VALUES, max_size=4), st.sampled_from(["", "```json\n", "So: "]))
def test_every_object_comes_back_as_it_was(value: dict[str, object], before: str) -> None:
    after = "\n```" if before.startswith("`") else ""
    assert take(before + json.dumps(value) + after) == value
