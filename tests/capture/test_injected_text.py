"""Our own block never comes back as something that was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.fence import FENCE_CLOSE, FENCE_OPEN, FENCE_TAG, strip_injected

BLOCK = f'{FENCE_OPEN} project="x" v="1">\n- [m_1] use tabs\n{FENCE_CLOSE}'

CASES = {
    "nothing of ours": ("fix the <b>parser</b>", "fix the <b>parser</b>"),
    "empty": ("", ""),
    "only the block": (BLOCK, ""),
    "before a prompt": (f"{BLOCK}fix it", "fix it"),
    "after a prompt": (f"fix it{BLOCK}", "fix it"),
    "in the middle": (f"fix{BLOCK} it", "fix it"),
    "twice": (f"a{BLOCK}b{BLOCK}c", "abc"),
    "without attributes": (f"a{FENCE_OPEN}>x{FENCE_CLOSE}b", "ab"),
    "never closed": (f"a{FENCE_OPEN}>x\ny", "a"),
    "open tag cut": (f"a{FENCE_OPEN} proj", "a"),
    "space in the closing tag": (f"a{FENCE_OPEN}>x</{FENCE_TAG} >b", "ab"),
    "stray closing tag": (f"a{FENCE_CLOSE}b", "ab"),
    "open twice, closed once": (f"a{FENCE_OPEN}>{FENCE_OPEN}>x{FENCE_CLOSE}b", "ab"),
    "the name alone stays": (f"what is {FENCE_TAG}?", f"what is {FENCE_TAG}?"),
    "a tag inside a tag leaves none": (f"<hind{FENCE_OPEN}>{FENCE_CLOSE}brain-memory>x", "<hind brain-memory>x"),
}


@pytest.mark.parametrize(("text", "left"), CASES.values(), ids=CASES.keys())
def test_what_is_left_of_a_text(text: str, left: str) -> None:
    assert strip_injected(text) == left


PIECES = [FENCE_OPEN, FENCE_CLOSE, f"</{FENCE_TAG}", ">", " ", "a", "<", "<hindbrain-", "memory"]


@given(st.lists(st.sampled_from(PIECES)))
def test_no_tag_of_ours_is_ever_left(parts: list[str]) -> None:
    left = strip_injected("".join(parts))
    assert FENCE_OPEN not in left
    assert f"</{FENCE_TAG}" not in left
    assert strip_injected(left) == left
