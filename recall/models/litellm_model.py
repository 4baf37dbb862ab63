"""Any provider, through litellm: one streamed request a `send`, no retry, no fallback, no call home.

The only module that imports litellm, inside `loaded()`, when something is really sent or counted (it takes seconds).
Measured with litellm 1.110: what each fault of a server comes out as stands in `failures`; a refusal and content that
is a list of blocks do not come through its stream at all, so the provider's own events are listened to beside it; a
proxy from the environment is used for 127.0.0.1 too, so this machine is taken out of it first.
"""

from __future__ import annotations

import functools
import logging
import math
import os
import warnings
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.request import getproxies_environment

from recall.errors import ModelError
from recall.hashing import canonical_json
from recall.models.endpoints import endpoint_of, host_of, is_loopback, provider_of
from recall.models.failures import CutShort, FormatRefused, classify, masked, words
from recall.models.formats import Formats, SessionFormats, response_format, simpler
from recall.models.request import ModelReply
from recall.models.wire import Wire, guard_httpx, on_wire
from recall.settings import secrets_in_environment

_NO_KEY = "not-needed"  # a server on this machine asks for none, the client library insists on one

# The bytes that an answer may have: this many, and so many more for each token that it may have, events and all.
_SPARE_BYTES = 4_000_000
_TOKEN_BYTES = 1_000

_OWN_CLIENT = "aiohttp_openai"  # the one road of litellm that does not end in httpx

_FINISHES = ("received_finish_reason", "intermittent_finish_reason", "received_any_finish_reason")


@functools.cache
def loaded() -> Any:
    """litellm, told before its import to fetch nothing and to read no `.env`, and afterwards to print nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    import litellm

    guard_httpx()
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.disable_hf_tokenizer_download = True
    for name in ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy"):
        logger = logging.getLogger(name)
        logger.handlers[:] = [logging.NullHandler()]
        logger.propagate = False
    # Of whatever type a server gives its usage. Not `catch_warnings`: requests side by side would undo each other's.
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings", category=UserWarning)
    return litellm


class LitellmModel:
    """A model behind an endpoint, named by a litellm model string. Checked, with its key, before its first send."""

    def __init__(
        self,
        name: str,
        api_base: str | None = None,
        *,
        formats: Formats | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.name = name
        self.provider = provider_of(name)
        self.endpoint = endpoint_of(name, api_base)
        self._api_base = api_base
        self._formats = formats if formats is not None else SessionFormats()
        self._clock = clock
        self._checked = False
        self._key: str | None = None
        self._takes_format = False

    async def send(
        self,
        messages: Sequence[Mapping[str, str]],
        *,
        schema: Mapping[str, object] | None,
        max_output_tokens: int,
        timeout: float,  # noqa: ASYNC109 - the protocol's name; the deadline is the road's, this is the socket's
    ) -> ModelReply:
        self.prepare()
        litellm = loaded()
        with on_wire(_SPARE_BYTES + _TOKEN_BYTES * max_output_tokens) as wire:
            return await self._sent(litellm, messages, schema, max_output_tokens, timeout, wire)

    async def _sent(
        self,
        litellm: Any,
        messages: Sequence[Mapping[str, str]],
        schema: Mapping[str, object] | None,
        max_output_tokens: int,
        timeout: float,  # noqa: ASYNC109 - as in `send`
        wire: Wire,
    ) -> ModelReply:
        form = self._formats.get() if schema is not None and self._takes_format else "none"
        wanted = response_format(form, schema) if schema is not None else None
        heard = _Heard()
        stream: Any = None
        try:
            stream = await litellm.acompletion(
                model=self.name,
                messages=_with_schema(messages, schema if form != "json_schema" else None),
                max_tokens=max_output_tokens,
                response_format=wanted,
                stream=True,
                stream_options={"include_usage": True},
                timeout=timeout,
                max_retries=0,
                num_retries=0,
                drop_params=True,
                api_base=self._api_base,
                api_key=self._key,
            )
            heard.listen_to(stream)
            async for chunk in stream:
                heard.take(chunk)
        except Exception as error:
            if wire.fault:
                raise ModelError("model_request_failed", f"{self.endpoint}: {wire.fault}") from error
            failure = classify(
                error,
                endpoint=self.endpoint,
                started=heard.events > 0,
                formatted=wanted is not None,
                now=self._clock(),
                secrets=secrets_in_environment(),
                sent="\n".join(message["content"] for message in messages),
            )
            if isinstance(failure, FormatRefused):
                self._formats.put(simpler(form))
            raise failure from error
        finally:
            await _close(stream)
        return self._reply(litellm, stream, heard)

    async def close(self) -> None:
        """Close litellm's clients and forget them: a closed one would be handed out again."""
        if loaded.cache_info().currsize:
            litellm = loaded()
            await litellm.close_litellm_async_clients()
            litellm.in_memory_llm_clients_cache.flush_cache()

    def prepare(self) -> None:
        """Load litellm; check the model's name, the key and the way to this machine. Nothing is sent."""
        if self._checked:
            return
        litellm = loaded()
        try:
            model, provider, _, _ = litellm.get_llm_provider(self.name, api_base=self._api_base)
        except litellm.exceptions.BadRequestError as error:
            hint = "name provider and model, for example openai/gpt-4.1-mini"
            raise ModelError("model_unavailable", f"{self.name} names no provider that litellm knows", hint) from error
        if provider == _OWN_CLIENT:
            hint = f"write it as openai/{model}"
            raise ModelError("model_unavailable", f"litellm's {provider} follows redirects to anywhere", hint)
        if provider != self.provider:
            hint = f"write it as {provider}/{model}"
            raise ModelError("model_unavailable", f"{self.name} belongs to {provider}, not to {self.provider}", hint)
        if is_loopback(self.endpoint):
            _bypass_proxy(host_of(self.endpoint) or "localhost")
        found = litellm.validate_environment(self.name)
        missing = [name for name in found["missing_keys"] if name.endswith(("_KEY", "_TOKEN"))]
        if missing and not is_loopback(self.endpoint):
            hint = f"set {' or '.join(missing)} (any word will do for a server that checks none)"
            raise ModelError("auth_unavailable", f"There is no key for {self.provider}", hint, {"missing": missing})
        self._key = _NO_KEY if missing else None
        supported = litellm.get_supported_openai_params(model=model, custom_llm_provider=provider) or ()
        self._takes_format = "response_format" in supported
        self._checked = True

    def _reply(self, litellm: Any, stream: Any, heard: _Heard) -> ModelReply:
        if heard.events == 0:
            hint = "check HISTORY_RECALL_API_BASE"
            raise CutShort("model_request_failed", f"{self.endpoint} did not answer as a chat server does", hint)
        usage = heard.usage
        details = getattr(usage, "completion_tokens_details", None)
        # litellm says `stop` for a stream that just ended; what counts is whether it had heard of a finish.
        told = [getattr(stream, name) for name in _FINISHES if hasattr(stream, name)]
        finish = heard.finish if any(told) or not told else ""
        refused = bool(heard.refusal) and not heard.text.strip()
        return ModelReply(
            text=masked(heard.refusal if refused else heard.text, secrets_in_environment()),
            finish_reason="refusal" if refused else finish,
            prompt_tokens=_count(usage, "prompt_tokens"),
            completion_tokens=_count(usage, "completion_tokens"),
            reasoning_tokens=_count(details, "reasoning_tokens"),
            cost_usd=None if self._api_base or usage is None else _cost(litellm, self.name, usage),
        )


class _Heard:
    """What came of one stream: litellm's chunks, and beside them the provider's own events."""

    def __init__(self) -> None:
        self.finish = ""
        self.refusal = ""
        self.usage: Any = None
        self.events = 0
        self._text = ""
        self._blocks = ""
        self._in_blocks = False

    @property
    def text(self) -> str:
        return self._blocks if self._in_blocks else self._text

    def listen_to(self, stream: Any) -> None:
        """Put an ear between litellm and the provider's stream, where it is one that can be iterated."""
        source: Any = getattr(stream, "completion_stream", None)
        if hasattr(source, "__anext__"):
            stream.completion_stream = _Ear(source, self._overhear)
        else:
            self.events = 1  # not to be heard, so its silence says nothing

    def take(self, chunk: Any) -> None:
        """A chunk of litellm's."""
        self.usage = getattr(chunk, "usage", None) or self.usage
        for choice in chunk.choices[:1]:
            content = getattr(choice.delta, "content", None)
            self._text += content if isinstance(content, str) else ""
            self.finish = choice.finish_reason or self.finish

    def _overhear(self, event: Any) -> None:
        self.events += 1
        for choice in (getattr(event, "choices", None) or ())[:1]:
            delta = getattr(choice, "delta", None)
            refusal, content = getattr(delta, "refusal", None), getattr(delta, "content", None)
            self.refusal += refusal if isinstance(refusal, str) else ""
            if isinstance(content, list):
                self._in_blocks = True
                self._blocks += "".join(_block_text(block) for block in content)
            elif isinstance(content, str):
                self._blocks += content


class _Ear:
    """A stream that tells of each event before it is handed on."""

    def __init__(self, source: AsyncIterator[Any], tell: Callable[[Any], None]) -> None:
        self._source = source
        self._tell = tell

    def __aiter__(self) -> _Ear:
        # litellm starts an iteration for each chunk, and some of its streams make themselves ready in it.
        self._source = aiter(self._source)
        return self

    async def __anext__(self) -> Any:
        event = await anext(self._source)
        self._tell(event)
        return event

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


def _block_text(block: object) -> str:
    """The text of a text block; thinking and everything else gives none."""
    if isinstance(block, Mapping) and block.get("type") == "text":
        return str(block.get("text") or "")
    return ""


def _with_schema(messages: Sequence[Mapping[str, str]], schema: Mapping[str, object] | None) -> list[Mapping[str, str]]:
    """The messages, the schema written under the instructions where the server does not get it in another way."""
    if schema is None:
        return list(messages)
    rule = "Reply with one JSON object and nothing else. It has to satisfy this JSON Schema:"
    first = {**messages[0], "content": f"{messages[0]['content']}\n\n{rule}\n{canonical_json(schema)}"}
    return [first, *messages[1:]]


def _bypass_proxy(host: str) -> None:
    """Keep what is for this machine away from a proxy that the environment names."""
    known = getproxies_environment().get("no", "")
    if host not in known.split(","):
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = ",".join(filter(None, (known, host)))


def _count(usage: object, name: str) -> int | None:
    """A number that a server gave, or None where it gave none, or one that nobody could have used."""
    value = getattr(usage, name, None)
    return value if isinstance(value, int) and 0 <= value < 2**53 else None


def _cost(litellm: Any, model: str, usage: Any) -> float | None:
    """What the usage costs, or None for a model without a price."""
    try:
        into, out = litellm.cost_per_token(model=model, usage_object=usage)
    except Exception as error:  # noqa: BLE001 - litellm raises whatever it likes for what it has no price for
        logging.getLogger(__name__).debug("no price: %s", words(error))
        return None
    total = float(into) + float(out)
    return total if 0 < total < math.inf else None


async def _close(stream: Any) -> None:
    close = getattr(stream, "aclose", None)
    if close is not None:
        await close()
