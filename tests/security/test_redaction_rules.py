"""Every rule finds its secrets however they are wrapped, removes nothing else, and leaves JSON valid."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import RULES, redact, redact_text
from tests.security.redaction_examples import TABLE, Case, cases, harmless, mix

CASES = cases()
BY_RULE = {rule: [case for case in CASES if case.rule == rule] for rule in TABLE}
TOKEN = "gh" + "p_" + mix(36)


def test_every_rule_has_examples_and_a_plain_name() -> None:
    assert [rule.name for rule in RULES if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name)] == []
    assert {rule.name for rule in RULES} == set(TABLE)
    assert len(RULES) == len(TABLE) >= 40
    assert [name for name, examples in TABLE.items() if len(examples.secrets) < 3 or len(examples.harmless) < 2] == []


@pytest.mark.parametrize("rule", TABLE)
def test_a_secret_is_removed_and_its_surroundings_stay(rule: str) -> None:
    for case in BY_RULE[rule]:
        assert redact_text(case.text) == (case.left, {rule: 1})


@pytest.mark.parametrize("rule", TABLE)
def test_a_secret_is_removed_anywhere_in_a_text(rule: str) -> None:
    for case in BY_RULE[rule]:
        for before, after in (("first line\r\n", "\r\nlast line"), ("tab\t", "\n"), ("“", " x"), ("say: ", "")):
            if takes_what_follows(case) and after.strip():
                continue
            assert redact_text(before + case.text + after)[0] == before + case.left + after


@pytest.mark.parametrize("rule", TABLE)
def test_a_secret_is_removed_from_json_however_deep(rule: str) -> None:
    for case in BY_RULE[rule]:
        for ascii_only in (True, False):
            for wrap in (in_value, in_list, in_key, nested_once, nested_twice):
                text, left = wrap(case.text, ascii_only), wrap(case.left, ascii_only)
                assert redact_text(text)[0] == left
                json.loads(left)


@pytest.mark.parametrize("rule", TABLE)
def test_a_secret_is_removed_after_a_line_break_or_quote_in_json(rule: str) -> None:
    for case in BY_RULE[rule]:
        for before in ("a\n", "a\r\n", "a\t", "“", "ü: "):
            assert redact_text(in_value(before + case.text, True))[0] == in_value(before + case.left, True)


@pytest.mark.parametrize(("rule", "text"), harmless())
def test_harmless_text_stays_as_it_is(rule: str, text: str) -> None:
    for wrapped in (text, in_value(text, True), nested_once(text, True), in_key(text, False)):
        assert redact_text(wrapped) == (wrapped, {})


@pytest.mark.parametrize("rule", TABLE)
def test_redacting_twice_changes_nothing(rule: str) -> None:
    for case in BY_RULE[rule]:
        for text in (case.text, in_value(case.text, True), nested_once(case.text, False)):
            once = redact_text(text)[0]
            assert redact_text(once) == (once, {})


def test_escaped_letters_hide_nothing() -> None:
    hidden = "".join(f"\\u{ord(letter):04x}" for letter in TOKEN)
    assert redact(b'{"a": "%b"}' % hidden.encode()).data == b'{"a": "[redacted:github-token]"}'
    nested = json.dumps({"a": '{"b": "' + hidden.upper().replace("\\U", "\\u") + '"}'})
    assert json.loads(json.loads(redact_text(nested)[0])["a"]) == {"b": "[redacted:github-token]"}


def test_escapes_that_json_needs_stay_escaped() -> None:
    text = '{"a": "\\u0022 \\u005c \\u001b[1m \\u007f ' + TOKEN + '"}'
    assert redact_text(text)[0] == '{"a": "\\u0022 \\u005c \\u001b[1m \\u007f [redacted:github-token]"}'


def test_escaped_slashes_do_not_hide_a_url() -> None:
    assert (
        redact(rb'{"a": "postgres:\/\/u:hunter2@h\/d"}').data
        == rb'{"a": "postgres:\/\/u:[redacted:url-password]@h\/d"}'
    )


def test_data_without_a_secret_comes_back_as_the_same_object() -> None:
    data = b'{"a": "\\u0041 and nothing else"}'
    result = redact(data)
    assert (result.data is data, result.counts) == (True, {})


def test_a_value_with_escaped_quotes_goes_whole_at_every_depth() -> None:
    value = {"password": 'a"b\\c\\\\"d\'e', "next": "kept"}
    text = json.dumps(value)
    for _ in range(3):
        redacted = redact_text(text)[0]
        unwrapped = json.loads(redacted)
        while isinstance(unwrapped, str):
            unwrapped = json.loads(unwrapped)
        assert unwrapped == {"password": "[redacted:password-assignment]", "next": "kept"}
        text = json.dumps(text)


def test_a_json_string_that_ends_in_a_sign_keeps_its_quote() -> None:
    for value in ("password=", "password: ", "token =", "secret\\", 'password="', "password='", "Cookie: ", "--token="):
        text = json.dumps({"a": value, "b": "letmein123", "c": [value, "x1234567"]})
        assert redact_text(text)[0] == text


def test_brackets_after_such_a_string_are_not_taken_for_a_value() -> None:
    for value in ("password=", "secret:", "token=", "x --token="):
        text = json.dumps([[[[{"a": [[[[{"b": value}]]]]}]]], {"c": 1}], separators=(",", ":"))
        for payload in (text, json.dumps(text)):
            assert redact_text(payload)[0] == payload


def test_a_secret_laid_bare_by_the_removal_of_its_neighbour_goes_too() -> None:
    text = "twilio S" + "K" + "0a1b2c3d" * 4 + "ATA" + "TT3" + mix(60)
    assert redact_text(text)[0] == "twilio [redacted:twilio][redacted:atlassian]"


def test_a_mark_is_never_read_as_a_name() -> None:
    text = "[redacted:google-access-token]: 0a1b2c3d-4e5f-6071, [redacted:vercel]=" + mix(24)
    assert redact_text(text)[0] == text


def test_other_json_types_keep_their_place() -> None:
    text = (
        '{"password": 12345678, "token": 12345678901, "secret": {"a": 1}, "api_key": null, "cookie": [1], "pwd": true}'
    )
    assert redact_text(text)[0] == text


def test_overlapping_finds_become_one_mark() -> None:
    assert redact_text(f"GITHUB_TOKEN={TOKEN}") == ("GITHUB_TOKEN=[redacted:github-token]", {"github-token": 1})


def test_each_removed_secret_is_counted() -> None:
    text = f"{TOKEN} {TOKEN} password=hunter2"
    assert redact_text(text)[1] == {"github-token": 2, "password-assignment": 1}


def test_a_line_break_before_half_a_prefix_stays_whole() -> None:
    text = json.dumps({"a": "x\n" + "pm_" + mix(36), "b": "\\" + "np" + "m_" + mix(36)})
    left = json.loads(redact_text(text)[0])
    assert left["a"].startswith("x\n")
    assert mix(36) not in left["b"]


def test_lone_surrogates_and_broken_utf8_survive() -> None:
    assert redact_text(f"\ud800 {TOKEN} \udfff") == ("\ud800 [redacted:github-token] \udfff", {"github-token": 1})
    assert redact(b"\xff\xfe password=hunter2 \xc3").data == b"\xff\xfe password=[redacted:password-assignment] \xc3"


@pytest.mark.parametrize("rule", TABLE)
def test_a_payload_cut_anywhere_never_shows_the_whole_secret(rule: str) -> None:
    for case in BY_RULE[rule][:2]:
        text = in_value("x " + case.text, True)
        secret = removed(text, in_value("x " + case.left, True), rule)
        for end in range(len(text) - len(text) // 3, len(text)):
            assert secret not in redact_text(text[:end])[0] or len(secret) < 12


PIECES = st.sampled_from(
    [case.text for case in CASES]
    + [text for _, text in harmless()]
    + [
        '"',
        "'",
        "\\",
        "\\n",
        "\\u0041",
        "\n",
        " ",
        ",",
        "}",
        "=",
        ": ",
        "password",
        "token=",
        "é",
        "[redacted:jwt]",
        "<private>",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=6).map("".join), st.integers(0, 2))
def test_any_mixture_stays_valid_json_and_settles_at_once(text: str, depth: int) -> None:
    plain = text
    for _ in range(depth):
        plain = json.dumps(plain)
    payload = json.dumps({"key": plain, plain: [plain, plain]})
    once, counts = redact_text(payload)
    json.loads(once)
    assert suspicious(payload.encode()) or not counts
    assert redact_text(once)[0] == once


def takes_what_follows(case: Case) -> bool:
    """A cookie header ends with its line; a key that was cut takes what follows, as it could be more of the key."""
    return case.rule == "cookie" or "cut; " in case.text


def removed(text: str, left: str, rule: str) -> str:
    before, after = left.split(f"[redacted:{rule}]")
    return text[len(before) : len(text) - len(after)]


def in_value(text: str, ascii_only: bool) -> str:
    return json.dumps({"before": 1, "text": text, "after": "x"}, ensure_ascii=ascii_only)


def in_list(text: str, ascii_only: bool) -> str:
    return json.dumps(["a", {"b": [text]}, text], ensure_ascii=ascii_only, separators=(",", ":"))


def in_key(text: str, ascii_only: bool) -> str:
    return json.dumps({text: "x", "after": 1}, ensure_ascii=ascii_only)


def nested_once(text: str, ascii_only: bool) -> str:
    return json.dumps(
        {"outer": json.dumps({"inner": text, "after": "x"}, ensure_ascii=ascii_only)}, ensure_ascii=ascii_only
    )


def nested_twice(text: str, ascii_only: bool) -> str:
    return json.dumps({"outermost": nested_once(text, ascii_only)}, ensure_ascii=ascii_only)
