"""A key that another side repeats, in whatever shape, is not shown."""

from __future__ import annotations

import base64
import html
import json
import urllib.parse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.key_mask import LEAST, without_key

KEY = "sk-loopback-Zq81Lr5TnVx0Wb7Ck2Ds9Fg4"
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
SHAPES = {
    "whole": KEY,
    "its beginning": KEY[:30] + "*****",
    "its end": "..." + KEY[-12:],
    "both ends": KEY[:8] + "****" + KEY[-8:],
    "over two lines": KEY[:12] + "\n  " + KEY[12:],
    "over two lines of JSON": json.dumps(KEY[:12] + "\n" + KEY[12:]),
    "in other letters": KEY.upper(),
    "escaped": ESCAPED,
    "escaped twice": json.dumps(json.dumps({"key": ESCAPED})),
    "in an address": urllib.parse.quote("key=" + KEY.replace("-", "\u2010"), safe=""),
    "letter by letter in an address": "".join(f"%{ord(letter):02X}" for letter in KEY),
    "in a page": "".join(f"&#{ord(letter)};" for letter in KEY),
    "with stars between": "*".join(KEY),
    "as UTF-16 read as bytes": KEY.encode("utf-16-le").decode("latin-1"),
    "as a password of Basic": base64.b64encode(f"api:{KEY}".encode()).decode(),
    "cut in the middle of an escape": ESCAPED[:100],
}


def pieces(shown: str) -> list[str]:
    """What is left of the key, with everything undone that a reader might undo."""
    plain = "".join(letter for letter in html.unescape(urllib.parse.unquote(shown)).lower() if letter.isalnum())
    key = "".join(letter for letter in KEY.lower() if letter.isalnum())
    coded = base64.b64encode(f"api:{KEY}".encode()).decode().lower()
    return [held[at : at + 12] for held in (key, coded) for at in range(len(held) - 11) if held[at : at + 12] in plain]


@pytest.mark.parametrize("name", SHAPES)
def test_a_key_is_not_shown_in_any_shape(name: str) -> None:
    shown = without_key(f"Incorrect API key provided: {SHAPES[name]} - see your account.", KEY)
    assert shown.startswith("Incorrect API key provided: ") and shown.endswith(" - see your account.") and "****" in shown
    assert pieces(shown) == []


@pytest.mark.parametrize("text", [
    "The model small-model does not exist", '{"error": {"message": "quota exceeded", "code": 429}}', "sk-loop is no key", "",
])  # fmt: skip
def test_what_holds_no_piece_of_the_key_stays_as_it_is(text: str) -> None:
    assert without_key(text, KEY) == text
    assert without_key(text, "") == text


def test_a_short_key_is_masked_whole_and_one_without_letters_too() -> None:
    assert without_key("abc123 is wrong, abc is not", "abc123") == "**** is wrong, abc is not"
    assert without_key("the key --- is wrong", "---") == "the key **** is wrong"


@given(st.text(max_size=40), st.integers(0, len(KEY) - 1), st.integers(0, len(KEY)), st.text(max_size=40))
def test_no_piece_of_the_key_that_is_long_enough_is_left_in_any_text(before: str, start: int, length: int, after: str) -> None:
    shown = without_key(before + KEY[start : start + length] + after, KEY)
    assert not any(KEY[at : at + LEAST + 2] in shown for at in range(len(KEY) - LEAST - 1))
