"""The first look at a payload misses nothing, keeps ordinary payloads on the fast path, and imports nothing."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base import prefilter
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import RULES, Rule, redact
from tests.security.redaction_examples import ORDINARY, TABLE, cases, harmless

CASES = cases()
FIXTURES = Path(__file__).parent.parent / "fixtures"


@pytest.mark.parametrize("rule", TABLE)
def test_a_payload_with_a_secret_is_suspicious_however_it_is_wrapped(rule: str) -> None:
    for case in CASES:
        if case.rule == rule:
            once = json.dumps({"a": case.text})
            after_break = json.dumps({"a": "x\n" + case.text, "b": "“" + case.text})
            for text in (case.text, once, after_break, json.dumps(once), json.dumps({"b": once}), json.dumps({case.text: 1})):
                assert suspicious(text.encode())


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_literal_of_a_rule_is_looked_for(rule: Rule) -> None:
    tailed = [literal for _, literals, _ in prefilter.TAILED for literal in literals]
    looked_for = [
        *prefilter.EXACT, *prefilter.WRAPPED, *tailed, *prefilter.FOLDED, *(probe[0] for probe in prefilter.PROBES),
        *(one for one, _ in prefilter.PAIRS), *prefilter.PASSWORD_WORDS, *prefilter.SECRET_WORDS, b"://", b":\\",
        b"pass", b"phrase>", b"-pass", b"key",
    ]  # fmt: skip
    for literal in rule.literals:
        assert any(word in literal or word in literal.lower() for word in looked_for), literal


def test_a_secret_of_digits_alone_is_not_taken_for_a_count() -> None:
    for text in ('vercel_id: "%s",' % ("1" * 24), 'cloudflare_x="%s"' % ("1" * 37), "AWS_SECRET_ACCESS_KEY=%s " % ("1" * 40)):
        assert redact(text.encode()).counts
        assert suspicious(text.encode())


def test_a_url_cut_within_its_password_is_suspicious() -> None:
    for text in ("git clone https://me:x-oauth-basic", '{"a": "redis:\\/\\/:hunter2'):
        assert redact(text.encode()).counts == {"url-password": 1}
        assert suspicious(text.encode())


@pytest.mark.parametrize("literal", [b"sk-", b"hf_", b"r8_"])
def test_a_short_prefix_counts_at_the_start_of_a_word_only(literal: bytes) -> None:
    value = b"A1b2C3d4E5" * 4
    for edge in (b"", b" ", b'"', b"\\n", b"\\\\n", b"\\u201c"):
        assert suspicious(edge + literal + value)
    for letter in (b"a", b"9"):
        assert not suspicious(letter + literal + value)


def test_the_tails_are_those_of_their_literals() -> None:
    for sign, literals, tails in prefilter.TAILED:
        assert {literal.removesuffix(sign).split(sign)[-1][-3:] for literal in literals} == tails


def alphabet() -> list[str]:
    words = [literal.decode() for rule in RULES for literal in rule.literals]
    signs = [
        '"',
        "'",
        "\\",
        '\\"',
        "\\\\",
        "=",
        ": ",
        ":",
        "=>",
        ">",
        "<",
        " ",
        "\n",
        "\\n",
        "--",
        "@",
        "/",
        "://",
        "1234",
        "12345678,",
        "]",
        "}",
    ]
    values = [
        "hunter2",
        "A1b2C3d4E5f6G7h8J9k0",
        "0123456789abcdef" * 3,
        "is ",
        "str",
        "null",
        "{",
        "[",
        "é",
        "\\u0041",
        "\\u00e9",
    ]
    return words + [word.upper() for word in words] + signs * 6 + values * 6


@settings(max_examples=1500, deadline=None)
@given(st.lists(st.sampled_from(alphabet()), min_size=1, max_size=9).map("".join), st.booleans())
def test_nothing_is_removed_from_a_payload_that_is_not_suspicious(text: str, as_json: bool) -> None:
    data = (json.dumps({"a": text}) if as_json else text).encode()
    assert suspicious(data) or redact(data).counts == {}


@settings(max_examples=500, deadline=None)
@given(st.lists(st.sampled_from([case.text for case in CASES]), min_size=1, max_size=2).map("".join), st.data())
def test_a_damaged_secret_is_judged_alike_by_both(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    text = (
        text[:at] + data.draw(st.sampled_from(["", " ", "1", "9" * 12, "]", "}", '"', "\\", "é", "="])) + text[at + 1 :]
    )
    payload = text.encode()
    assert suspicious(payload) or redact(payload).counts == {}


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_takes_the_fast_path(text: str) -> None:
    assert not suspicious(text.encode())
    assert not suspicious(json.dumps({"tool_response": {"stdout": text}}).encode())


def test_the_payloads_and_transcript_of_a_real_client_take_the_fast_path() -> None:
    payloads = [
        json.dumps(hook).encode() for hook in json.loads((FIXTURES / "claude_hooks.json").read_bytes()).values()
    ]
    lines = (FIXTURES / "claude_transcript.jsonl").read_bytes().splitlines()
    assert [payload for payload in payloads + lines if suspicious(payload)] == []


def test_few_harmless_texts_leave_the_fast_path_for_good() -> None:
    assert [text for _, text in harmless() if redact(text.encode()).counts] == []


def test_words_without_a_value_are_not_suspicious() -> None:
    for text in (
        "the token and the key",
        '"input_tokens": 1234, "x"',
        '{"token": null}',
        '"tokens": {"a": 1}',
        "my secret!",
        "key=1",
    ):
        assert not suspicious(text.encode())


def test_it_imports_nothing() -> None:
    tree = ast.parse(Path(prefilter.__file__).read_text())
    assert [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)] == []


def test_using_it_loads_no_module_the_interpreter_did_not() -> None:
    script = (
        "import sys\n"
        "before = set(sys.modules)\n"
        f"code = compile(open({prefilter.__file__!r}).read(), 'prefilter', 'exec')\n"
        "space = {'__name__': 'prefilter'}\n"
        "exec(code, space)\n"
        "assert space['suspicious'](b'password=hunter2') and not space['suspicious'](b'plain \\xc3\\xa9')\n"
        "print(sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
