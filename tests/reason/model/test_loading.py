"""What is loaded, and what leaves the machine: nothing without a model, and with one only what it needs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from hindbrain.ledger.statement import Said
from hindbrain.reason.digest import Digest
from hindbrain.reason.model import checks
from hindbrain.reason.model.asked import ModelName
from hindbrain.reason.model.client import Hosted
from hindbrain.reason.model.prompts import relate
from hindbrain.reason.model.reasoner import Reasoner
from tests.reason.model import test_checks
from tests.reason.model.asking import KEY, KINDS, PROTOCOLS, ROOMY, Asking, text_of
from tests.reason.model.model_server import Reply, serving

HEAVY = ("pydantic_ai", "pydantic", "httpx2", "anthropic", "openai", "google.genai", "httpx", "jsonschema")
WITHOUT = f"""
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.reason import steps
from hindbrain.reason.model import budget, calls, checks, chunks, client, command, failures, prompts, reasoner, taking
from hindbrain.serve import memory
config = load(environ={{"HOME": "/h", "HINDBRAIN_HOME": sys.argv[1]}})
assert reasoner.calls_of(config, SystemClock(), {{}}) is None
assert reasoner.Reasoner(None).extract([], lambda: [1]).value == [1]
named = load(environ={{"HOME": "/h", "HINDBRAIN_HOME": sys.argv[1], "HINDBRAIN_MODEL": "anthropic:a,gemini:b,claude-cli:c"}})
assert reasoner.calls_of(named, SystemClock(), {{}}) is not None
print([name for name in {HEAVY!r} if name in sys.modules])
"""


def test_nothing_of_pydantic_ai_is_loaded_before_a_model_is_asked(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WITHOUT, str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ended.stdout, ended.returncode) == ("[]\n", 0), ended.stderr


def test_the_core_install_does_not_bring_it() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text("utf-8"))["project"]
    assert not any("pydantic" in each or "httpx" in each for each in project["dependencies"])
    extra = project["optional-dependencies"]
    assert {re.split(r"[\[<>=]", each)[0] for each in extra["model"]} == {"httpx2", "pydantic-ai-slim"}
    assert set(extra["model"]) <= set(extra["dev"])


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_no_variable_of_the_environment_changes_who_is_asked_or_with_what(
    protocol: str, asking: Callable[..., Asking], monkeypatch: pytest.MonkeyPatch
) -> None:
    leaks = {"ANTHROPIC_API_KEY": "leak-1", "ANTHROPIC_AUTH_TOKEN": "leak-2", "ANTHROPIC_BASE_URL": "http://127.0.0.1:1",
             "OPENAI_API_KEY": "leak-3", "OPENAI_ORG_ID": "leak-4", "OPENAI_PROJECT_ID": "leak-5", "OPENAI_BASE_URL": "http://127.0.0.1:1",
             "HTTP_PROXY": "http://127.0.0.1:1", "HTTPS_PROXY": "http://127.0.0.1:1", "ALL_PROXY": "http://127.0.0.1:1",
             "ANTHROPIC_CUSTOM_HEADERS": "x-leak: leak-6", "OPENAI_CUSTOM_HEADERS": "x-leak: leak-6"}  # fmt: skip
    for name, value in leaks.items():
        monkeypatch.setenv(name, value)
    with serving([Reply(text_of("digest"))]) as server:
        assert KINDS["digest"].run(asking(server.url, PROTOCOLS[protocol]).reasoner()).made_by.startswith("model:")
        (request,) = server.requests
    assert "leak" not in str(request.headers) + json.dumps(request.body)
    keys = [value for name, value in request.headers.items() if name in ("authorization", "x-api-key")]
    assert keys == [f"Bearer {KEY}" if protocol == "openai" else KEY]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_request_has_no_tools_temperature_0_and_the_shape_of_the_reply(protocol: str, asking: Callable[..., Asking]) -> None:
    with serving([Reply(text_of("digest"))]) as server:
        KINDS["digest"].run(asking(server.url, PROTOCOLS[protocol]).reasoner())
        body = server.requests[0].body
    assert body["temperature"] == 0
    assert "tools" not in body and not body.get("stream")
    form = body["response_format"]["json_schema"] if protocol == "openai" else body["output_config"]["format"]
    shape = form["schema"]
    assert set(shape["properties"]) == {"short", "long"}


def test_a_server_that_does_not_know_shapes_is_told_in_words(asking: Callable[..., Asking]) -> None:
    refusal = Reply(body=b'{"error": {"message": "response_format json_schema is not supported"}}', status=400)
    with serving([refusal, Reply(text_of("digest"))]) as server:
        asks = asking(server.url, PROTOCOLS["openai"])
        assert KINDS["digest"].run(asks.reasoner()).value == KINDS["digest"].by_model
        KINDS["reflect"].run(asks.reasoner())
        assert ["response_format" in request.body for request in server.requests[:3]] == [True, False, False]
        assert '"required": ["short", "long"]' in server.requests[1].system


def test_a_redirection_is_not_followed_and_the_key_stays_here(asking: Callable[..., Asking]) -> None:
    with serving([Reply(text_of("digest"))]) as other:
        with serving([Reply(status=307, headers={"Location": f"{other.url}/v1/chat/completions"})]) as server:
            made = KINDS["digest"].run(asking(server.url, PROTOCOLS["openai"]).reasoner(give_way=True))
        assert (made.made_by, other.requests, len(server.requests)) == ("rules/1", [], 1)


@pytest.mark.parametrize("name", ["gemini:gemini-2.5-flash", "ollama:qwen3", "openai:gpt-5-mini", "anthropic:claude-opus-4-8"])
def test_every_kind_of_model_is_asked_once_and_its_refusal_is_understood(name: str, asking: Callable[..., Asking]) -> None:
    from hindbrain.reason.model.failures import ModelAway

    with serving([Reply(body=b"{}", status=503, headers={"Retry-After": "9"})]) as server:
        clock = asking(server.url, name).clock
        with pytest.raises(ModelAway) as away:
            Hosted(ModelName.of(name), server.url, KEY, ROOMY, clock).ask(relate([]))
        assert (away.value.after, len(server.requests)) == (9.0, 1)
        assert KEY in str(server.requests[0].headers) and KEY not in server.requests[0].path


def test_a_caller_may_be_in_a_loop_of_its_own(asking: Callable[..., Asking]) -> None:
    async def within(reasoner: Reasoner) -> str:
        return KINDS["digest"].run(reasoner).made_by

    with serving([Reply(text_of("digest"))]) as server:
        reasoner = asking(server.url, PROTOCOLS["openai"]).reasoner()
        assert asyncio.run(within(reasoner)) == f"model:{PROTOCOLS['openai']}/1"


@pytest.mark.parametrize("name", ["gemini:gemini-2.5-flash", "ollama:qwen3", "openai:gpt-5-mini", "anthropic:claude-opus-4-8"])
def test_every_kind_of_model_answers_every_kind_of_question(name: str, asking: Callable[..., Asking]) -> None:
    with serving([Reply(text_of(kind)) for kind in KINDS]) as server:
        asks = asking(server.url, name)
        made = {kind: KINDS[kind].run(asks.reasoner()) for kind in KINDS}
        assert len(server.requests) == len(KINDS)
    assert {kind: each.value for kind, each in made.items()} == {kind: KINDS[kind].by_model for kind in KINDS}
    assert {each.made_by for each in made.values()} == {f"model:{name}/1"}


def test_what_is_sent_holds_no_secret_and_none_of_our_own_blocks(asking: Callable[..., Asking]) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    turns = [
        Said("a", "user", f"The token is {secret}, keep it. <hindbrain-memory>old news</hindbrain-memory> Use tabs."),
        Said("b", "tool_result", f"export GITHUB_TOKEN={secret}", tool="Bash"),
    ]
    with serving([Reply('{"statements": []}')]) as server:
        asks = asking(server.url, PROTOCOLS["openai"])
        asks.reasoner().extract(turns, list)
        asks.reasoner().digest(turns, [], lambda: Digest("by", "rules"))
        sent = json.dumps([request.body for request in server.requests])
    assert secret not in sent and "old news" not in sent and "Use tabs" in sent


def test_a_secret_in_a_reply_is_taken_out_before_it_is_kept(asking: Callable[..., Asking]) -> None:
    secret = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
    said = json.dumps({"known": True, "sentences": [{"text": f"Use {secret}", "cites": ["e1"]}]})
    with serving([Reply(said)]) as server:
        asks = asking(server.url, PROTOCOLS["openai"])
        made = KINDS["ask"].run(asks.reasoner())
    assert secret not in str(made) + "".join(event.text for event in asks.journal)


def test_with_the_quote_check_off_the_suite_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "found_quote", lambda quote, text: (0, len(text)))
    for name in ("a quote that was made up", "a quote of another turn", "a quote in other letters"):
        with pytest.raises(pytest.fail.Exception):
            test_checks.test_a_statement_that_does_not_hold_is_refused(name)


def test_a_server_whose_certificate_nobody_vouches_for_is_not_told_the_key(asking: Callable[..., Asking], tmp_path: Path) -> None:
    pem = tmp_path / "server.pem"
    pem.write_bytes(self_signed())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem)
    heard: list[bytes] = []

    def serve(listening: socket.socket) -> None:
        plain, _ = listening.accept()
        with plain, contextlib.suppress(OSError), context.wrap_socket(plain, server_side=True) as secured:
            heard.append(secured.recv(1 << 16))

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        asks = asking(f"https://localhost:{listening.getsockname()[1]}", PROTOCOLS["openai"])
        made = KINDS["digest"].run(asks.reasoner(give_way=True))
        thread.join(30)
    assert made.note.startswith("openai:small-model cannot be reached")
    assert heard in ([], [b""])


def self_signed() -> bytes:
    """A key and a certificate for localhost that it signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    built = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key()).serial_number(1)
    built = built.not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=1))
    built = built.add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
    certificate = built.sign(key, hashes.SHA256())
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return private + certificate.public_bytes(serialization.Encoding.PEM)
