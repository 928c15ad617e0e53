"""What stands in `<private>` tags, or in a private key, is removed even when it is nested, unclosed or cut."""

from __future__ import annotations

import json

import pytest

from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import redact, redact_text
from tests.security.redaction_examples import BEGIN, END, KEY, mix

MARK = "[redacted:private]"
KEY_MARK = "[redacted:private-key]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", f"a {MARK} c"),
        ("a <PRIVATE>b</pRiVaTe> c", f"a {MARK} c"),
        ("a <private >b\nc\r\nd</private\t> e", f"a {MARK} e"),
        ("<private>a</private><private>b</private>", MARK + MARK),
        ("<private>a<private>b</private>c</private>d", f"{MARK}d"),
        ("<private>a<private>b</private>c", MARK),
        ("a <private>b \"c\" 'd' \\ e", f"a {MARK}"),
        ("a </private> b <private>c", f"a </private> b {MARK}"),
        ("<private></private>", MARK),
        ("a <private>b [redacted:jwt] c</private> d", f"a {MARK} d"),
        ("a <privately>b</privately>", "a <privately>b</privately>"),
    ],
)
def test_a_private_passage_goes_with_its_tags(text: str, left: str) -> None:
    assert redact_text(text)[0] == left
    assert redact_text(left)[0] == left
    for ascii_only in (True, False):
        wrapped = json.dumps({"prompt": text, "after": "kept"}, ensure_ascii=ascii_only)
        assert json.loads(redact_text(wrapped)[0]) == {"prompt": left, "after": "kept"}
        assert suspicious(wrapped.encode()) or text == left


def test_a_tag_written_with_escapes_is_seen() -> None:
    data = rb'{"a": "x \u003cprivate\u003eb\u003c\/private\u003e y <private>c<\/private>"}'
    assert suspicious(data)
    assert json.loads(redact(data).data) == {"a": f"x {MARK} y {MARK}"}


def test_an_unclosed_passage_in_json_ends_with_its_string() -> None:
    text = json.dumps({"a": 'x <private>b "c" \\ d', "b": "kept", "c": ["kept", "y <private>"], "d": "kept"})
    assert json.loads(redact_text(text)[0]) == {"a": f"x {MARK}", "b": "kept", "c": ["kept", f"y {MARK}"], "d": "kept"}


def test_a_passage_that_spans_the_lines_of_a_patch_goes_whole() -> None:
    text = json.dumps({"lines": ["+a", "+<private>", "+my street", "+</private>", "+b"], "c": "kept"})
    assert json.loads(redact_text(text)[0]) == {"lines": ["+a", f"+{MARK}", "+b"], "c": "kept"}


def test_a_passage_never_takes_the_name_of_a_member() -> None:
    text = '{"a": "x <private>b", "</private> c": "d", "e": ["<private>", "f"], "g</private>": 1}'
    assert json.loads(redact_text(text)[0]) == {
        "a": f"x {MARK}",
        "</private> c": "d",
        "e": [MARK, "f"],
        "g</private>": 1,
    }


def test_a_payload_cut_within_a_passage_loses_its_end() -> None:
    text = json.dumps({"a": "x <private>my street 12"})
    for end in range(text.index("street"), len(text) - 2):
        assert redact_text(text[:end])[0] == '{"a": "x ' + MARK


@pytest.mark.parametrize(
    "wrap",
    [lambda text: text, lambda text: json.dumps({"a": text}), lambda text: json.dumps({"a": json.dumps([text])})],
)
def test_a_key_that_was_cut_loses_all_that_is_there(wrap) -> None:  # type: ignore[no-untyped-def]
    lines = [mix(64), mix(64)[::-1], mix(22) + "=="]
    body = "\n".join(lines)
    for text in (
        f"{BEGIN}RSA {KEY}\n{body}",
        f"x\n{body}\n{END}RSA {KEY}",
        f"{BEGIN}{KEY}\n{body}\n{END}{KEY}",
        f"{BEGIN}{KEY} {mix(64)}",
    ):
        left = redact_text(wrap(text))[0]
        assert [line for line in lines if line in left] == []
        assert KEY_MARK in left


def test_a_key_in_the_lines_of_a_patch_goes_whole_or_cut() -> None:
    lines = ["+" + mix(64), "+" + mix(64)[::-1], "+" + mix(30) + "=="]
    whole = json.dumps({"a": ["+x", f"+{BEGIN}{KEY}", *lines, f"+{END}{KEY}", "+y"]})
    assert json.loads(redact_text(whole)[0]) == {"a": ["+x", f"+{KEY_MARK}", "+y"]}
    no_end = json.dumps({"a": ["+x", f"+{BEGIN}{KEY}", *lines], "b": "kept"})
    assert json.loads(redact_text(no_end)[0]) == {"a": ["+x", f"+{KEY_MARK}"], "b": "kept"}
    no_begin = json.dumps({"a": ["+x", *lines, f"+{END}{KEY}", "+y"], "b": "kept"})
    assert json.loads(redact_text(no_begin)[0]) == {"a": ["+x", KEY_MARK, "+y"], "b": "kept"}


def test_a_stray_end_before_a_whole_key_is_no_shelter() -> None:
    tail = f"x: {mix(64)}\n{END}{KEY}; {BEGIN}{KEY}\n{mix(64)}\n{END}{KEY}"
    assert redact_text(tail) == (f"x: {KEY_MARK}; {KEY_MARK}", {"private-key": 2})


def test_a_key_never_takes_the_name_of_a_member() -> None:
    text = json.dumps({"a": f"{BEGIN}{KEY}\n{mix(64)}", f"{END}{KEY}": "b", "c": "kept"})
    assert json.loads(redact_text(text)[0]) == {"a": KEY_MARK, f"{END}{KEY}": "b", "c": "kept"}
