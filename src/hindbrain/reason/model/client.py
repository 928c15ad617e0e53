"""A question -> what a model behind HTTP wrote: Anthropic, OpenAI and whatever speaks like it, Gemini, Ollama.

pydantic-ai knows how each maker wants to be asked for an object of a given shape; everything else is ours: one request and no
second, no tools, no files, temperature 0, and the wire with its limits. It is loaded with the first question and never before.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import warnings
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.reason.model.asked import Limits, ModelName, Question, Reply
from hindbrain.reason.model.failures import KeyRefused, ModelFailed, ModelRefused, WrongOutput, shown

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model as Speaking

_NO_KEY: Final = "none"  # libraries insist on one


class Maker(NamedTuple):
    """What one kind of server is called and how it wants the key."""

    url: str
    suffix: str  # what people give and what not: the libraries want the address with it
    key_header: tuple[str, str]


MAKERS: Final = {
    "anthropic": Maker("https://api.anthropic.com", "", ("x-api-key", "{}")),
    "openai": Maker("https://api.openai.com", "/v1", ("authorization", "Bearer {}")),
    "gemini": Maker("https://generativelanguage.googleapis.com", "", ("x-goog-api-key", "{}")),
    "ollama": Maker("http://127.0.0.1:11434", "/v1", ("authorization", "Bearer {}")),
}


class Hosted:
    """A model behind HTTP."""

    def __init__(self, name: ModelName, url: str, key: str, limits: Limits, clock: Clock) -> None:
        self._name = name
        maker = MAKERS[name.provider]
        base = (url or maker.url).rstrip("/")
        for end in ("/v1/messages", "/v1/chat/completions", "/chat/completions", "/v1"):
            base = base.removesuffix(end)
        self._base = base + maker.suffix
        self._key_header = maker.key_header
        self._key = key
        self._limits = limits
        self._clock = clock
        self._plain = False  # the server does not know how to hold to a schema: it is told in words alone

    def __repr__(self) -> str:
        return f"Hosted({self._name} at {self._base})"

    @property
    def name(self) -> ModelName:
        return self._name

    def ask(self, question: Question) -> Reply:
        """The reply, as it came. Raises ModelFailed."""
        if not self._key and self._name.provider in ("anthropic", "gemini"):
            raise KeyRefused(f"{self._name} needs a key", hint="hindbrain config set model_key ...")
        try:
            return _run(self._asked(question))
        except ModelRefused as refused:
            if self._plain or not any(word in refused.message for word in _SCHEMA_WORDS):
                raise
            self._plain = True
            return _run(self._asked(question))

    async def _asked(self, question: Question) -> Reply:
        import httpx2

        from hindbrain.reason.model.wire import Wire

        wire = Wire(str(self._name), self._base, self._key_header, self._key, self._limits, self._clock)
        seconds = self._limits.total + 60  # the wire is stricter, and says more
        async with httpx2.AsyncClient(transport=wire, trust_env=False, follow_redirects=False, timeout=seconds) as http:
            try:
                model = _speaking(self._name, self._base, self._key or _NO_KEY, http)
                return await _request(model, question, plain=self._plain)
            except ModelFailed:
                raise
            except Exception as error:  # noqa: BLE001 - whatever a library makes of it: the wire knows what happened
                # not chained: the text of a library's error may quote what was sent
                raise wire.failure or self._of_library(error, wire.replied, wire.came) from None

    def _of_library(self, error: Exception, replied: bool, came: int | None) -> ModelFailed:
        """A library's own complaint: about a reply that came whole and is not what its protocol says, or about the question."""
        said = shown(str(error), self._key) or type(error).__name__
        if replied:
            return WrongOutput(f"{self._name} answered with something that is no reply: {type(error).__name__}", came=came)
        return ModelRefused(f"{self._name} cannot be asked: {type(error).__name__}: {said}")


def _run(asked: Coroutine[Any, Any, Reply]) -> Reply:
    """One loop for one call: a client's connections belong to their loop. A caller that is in one of its own needs a thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asked)  # an interrupt by the user ends it
    with concurrent.futures.ThreadPoolExecutor(1, "model") as thread:
        return thread.submit(asyncio.run, asked).result()


async def _request(model: Speaking, question: Question, *, plain: bool) -> Reply:
    from pydantic_ai.direct import model_request
    from pydantic_ai.messages import ModelRequest, UserPromptPart
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.output import OutputObjectDefinition
    from pydantic_ai.settings import ModelSettings

    parameters = ModelRequestParameters()
    if not plain and model.profile.get("supports_json_schema_output", False):
        shape = OutputObjectDefinition(json_schema=question.schema, name=question.kind, strict=True)
        parameters = ModelRequestParameters(output_mode="native", output_object=shape)
    _quiet()
    settings = ModelSettings(temperature=0.0, max_tokens=question.most_output)
    if "max_retries" not in model.unsupported_settings:
        settings["max_retries"] = 0
    asked = [ModelRequest(parts=[UserPromptPart(question.text)], instructions=question.system)]
    response = await model_request(model, asked, model_settings=settings, model_request_parameters=parameters, instrument=False)
    complaint = _COMPLAINTS.get(response.finish_reason or "", "")
    return Reply(response.text or "", response.usage.input_tokens, response.usage.output_tokens, complaint)


def _quiet() -> None:
    """Libraries write whole requests into the log where it is set to debug; and some models want no temperature and say so."""
    for name in ("anthropic", "openai", "google_genai", "httpx2", "httpcore2"):
        logging.getLogger(name).setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", message="Sampling parameters", category=UserWarning)


def _speaking(name: ModelName, base: str, key: str, http: httpx2.AsyncClient) -> Speaking:
    """pydantic-ai's model. The address and the key are always given, so that no variable of the environment takes their place."""
    try:
        return _SPEAKING[name.provider](name.model, base, key, http)
    except ImportError as error:
        hint = "pip install 'hindbrain[model]'"
        raise ModelRefused(f"{name} cannot be asked: pydantic-ai is not installed", hint=hint) from error


def _anthropic(model: str, base: str, key: str, http: httpx2.AsyncClient) -> Speaking:
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    return AnthropicModel(model, provider=AnthropicProvider(api_key=key, base_url=base, http_client=http))


def _openai(model: str, base: str, key: str, http: httpx2.AsyncClient) -> Speaking:
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    return OpenAIChatModel(model, provider=OpenAIProvider(api_key=key, base_url=base, http_client=http))


def _gemini(model: str, base: str, key: str, http: httpx2.AsyncClient) -> Speaking:
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    return GoogleModel(model, provider=GoogleProvider(api_key=key, base_url=base, http_client=http))


def _ollama(model: str, base: str, key: str, http: httpx2.AsyncClient) -> Speaking:
    from pydantic_ai.models.ollama import OllamaModel
    from pydantic_ai.providers.ollama import OllamaProvider

    return OllamaModel(model, provider=OllamaProvider(api_key=key, base_url=base, http_client=http))


_SPEAKING: Final = {"anthropic": _anthropic, "openai": _openai, "gemini": _gemini, "ollama": _ollama}
_SCHEMA_WORDS: Final = ("response_format", "json_schema", "output_config", "output_format", "structured output", "JsonSchema")
_COMPLAINTS: Final = {"content_filter": "the model refused to answer", "length": "the reply broke off: it is too long"}

