"""What one session of the real client was told reaches the model in the next one's request, fenced, and does not come back."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from hindbrain.base.fence import FENCE_CLOSE, FENCE_OPEN
from tests.clients.claude import BOTH, Claude, strings
from tests.serve.installed import until

pytestmark = pytest.mark.clients

TOLD = "We write the dates of the Zanzibar exporter as day, month, year"
QUESTION = "How are dates of the Zanzibar exporter written?"
# A new model gets what hooks add as a message of its own, an old one as a reminder inside the user's.
MODELS = ["claude-opus-5-5", "claude-haiku-4-5"]


def injected(request: dict[str, Any]) -> str:
    """Everything in a request that stands inside our fence."""
    pieces = []
    for text in strings([message["content"] for message in request["messages"]]):
        for piece in text.split(FENCE_OPEN)[1:]:
            pieces.append(piece.split(FENCE_CLOSE)[0])
    return "\n".join(pieces)


def asks(request: dict[str, Any]) -> bool:
    return QUESTION in json.dumps(request["messages"])


@pytest.mark.parametrize("model", MODELS)
def test_the_next_sessions_request_holds_the_line_from_the_first(claude: Claude, model: str) -> None:
    first = claude.ask(TOLD, "--model", model)
    told = [("user", TOLD, BOTH), ("assistant", f"You said: {TOLD}", BOTH)]
    claude.until_said(first, told)
    second = claude.ask(QUESTION, "--model", model)
    request = claude.server.wait_for(asks, "the question")
    assert TOLD in injected(request)
    # What we injected is in the client's transcript now; it is no turn of the second session.
    claude.until_said(second, [("user", QUESTION, BOTH), ("assistant", f"You said: {QUESTION}", BOTH)])
    claude.until_said(first, told)


def test_a_subagent_is_told_what_fits_its_errand(claude: Claude) -> None:
    """What fits is judged by the prompt the errand came from, which has to be stored by then; a model takes that long."""
    claude.until_said(claude.ask(TOLD), [("user", TOLD, BOTH), ("assistant", f"You said: {TOLD}", BOTH)])
    errand = "SAY:looked up how dates of the Zanzibar exporter are written"
    prompt = f"HOLD:thinking\nAGENT:{errand}\nSAY:sent somebody"
    session = str(uuid.uuid4())
    with claude.running(prompt, "--session-id", session) as process:
        until(lambda: claude.said(session), "the prompt in the ledger")
        claude.server.release("thinking")
        request = claude.server.wait_for(
            lambda request: any(errand == text for text in strings(request["messages"][0])), "the subagent's"
        )
        assert process.wait(60) == 0
    assert TOLD in injected(request)


def test_a_session_is_not_told_what_it_said_itself(claude: Claude) -> None:
    session = claude.ask(TOLD)
    claude.until_said(session, [("user", TOLD, BOTH), ("assistant", f"You said: {TOLD}", BOTH)])
    assert claude.ask(QUESTION, "--continue") == session
    assert injected(claude.server.wait_for(asks, "the question")) == ""
