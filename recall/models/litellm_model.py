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
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.request import getproxies_environment

from recall.errors import ModelError
from recall.hashing import canonical_json
from recall.models.endpoints import endpoint_of, host_of, is_loopback, provider_of
from recall.models.failures import CutShort, FormatRefused, classify, masked, no_tools, words
from recall.models.formats import Formats, SessionFormats, response_format, simpler
from recall.models.heard import Heard
from recall.models.request import ModelReply
from recall.models.turns import ToolCall, ToolSpec, tool_json
from recall.models.wire import Wire, guard_httpx, on_wire
from recall.settings import secrets_in_environment

_NO_KEY = "not-needed"  # a server on this machine asks for none, the client library insists on one

# The bytes that an answer may have: this many, and so many more for each token that it may have, events and all.
_SPARE_BYTES = 4_000_000
_TOKEN_BYTES = 1_000

# A server that people run themselves samples at .8 unless told otherwise, and a small model's quotes are then seldom
# word for word. Not 0: a question that got an invalid reply has to have another chance in the next run.
_STEADY = 0.2
_OWN_CLIENT = "aiohttp_openai"  # the one road of litellm that does not end in httpx

_LOADING = threading.Lock()
_FINISHES = ("received_finish_reason", "intermittent_finish_reason", "received_any_finish_reason")


def loaded() -> Any:
    """litellm, ready for use. Who comes while another thread loads it waits for that."""
    with _LOADING:
        return _load()


@functools.cache
def _load() -> Any:
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
        self._takes_tools = False

    async def send(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        schema: Mapping[str, object] | None,
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int,
        timeout: float,  # noqa: ASYNC109 - the protocol's name; the deadline is the road's, this is the socket's
    ) -> ModelReply:
        self.prepare(tools=bool(tools))
        litellm = loaded()
        with on_wire(_SPARE_BYTES + _TOKEN_BYTES * max_output_tokens, tools=bool(tools)) as wire:
            return await self._sent(litellm, messages, schema, tools, max_output_tokens, timeout, wire)

    async def _sent(
        self,
        litellm: Any,
        messages: Sequence[Mapping[str, object]],
        schema: Mapping[str, object] | None,
        tools: Sequence[ToolSpec],
        max_output_tokens: int,
        timeout: float,  # noqa: ASYNC109 - as in `send`
        wire: Wire,
    ) -> ModelReply:
        form = self._formats.get() if schema is not None and self._takes_format else "none"
        wanted = response_format(form, schema) if schema is not None else None
        heard = Heard()
        stream: Any = None
        try:
            stream = await litellm.acompletion(
                model=self.name,
                messages=_with_schema(messages, schema if form != "json_schema" else None),
                max_tokens=max_output_tokens,
                temperature=_STEADY if is_loopback(self.endpoint) else None,
                response_format=wanted,
                **_with_tools(tools),
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
            begun = heard.events > 0
            failure = self._failure(error, wire, messages, begun, formatted=wanted is not None, tooled=bool(tools))
            if isinstance(failure, FormatRefused):
                self._formats.put(simpler(form))
            raise failure from error
        finally:
            await _close(stream)
        return self._reply(litellm, stream, heard)

    def _failure(
        self,
        error: Exception,
        wire: Wire,
        messages: Sequence[Mapping[str, object]],
        begun: bool,
        *,
        formatted: bool,
        tooled: bool,
    ) -> ModelError:
        """What went wrong, as ours. What the wire gave up has lost its reason on the way through litellm."""
        if wire.toolless:
            return no_tools(self.name)
        if wire.fault:
            return ModelError("model_request_failed", f"{self.endpoint}: {wire.fault}")
        return classify(
            error,
            endpoint=self.endpoint,
            started=begun,
            formatted=formatted,
            tooled=tooled,
            now=self._clock(),
            secrets=secrets_in_environment(),
            sent=canonical_json(messages),
        )

    async def close(self) -> None:
        """Close the clients that litellm made on this event loop, and forget them: a closed one would be handed out
        again. It keeps those of all loops in one place, and a server answers several searches at once, a loop each.
        """
        if not _load.cache_info().currsize:
            return
        cache = loaded().in_memory_llm_clients_cache
        ours = cache.update_cache_key_with_event_loop("")
        for name in [name for name in list(cache.cache_dict) if name.endswith(ours)]:
            client = cache.cache_dict.pop(name, None)
            cache.ttl_dict.pop(name, None)
            await _close(getattr(client, "_client", None) or getattr(client, "client", None) or client)

    def prepare(self, *, tools: bool = False) -> None:
        """Load litellm; check the model's name, the key and the way to this machine. Nothing is sent."""
        if not self._checked:
            self._check(loaded())
            self._checked = True
        if tools and not self._takes_tools:
            raise no_tools(f"{self.name}, through litellm,")

    def _check(self, litellm: Any) -> None:
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
        # Ollama's older road is said to take tools; litellm writes them into the prompt there.
        self._takes_tools = "tools" in supported and provider != "ollama"

    def _reply(self, litellm: Any, stream: Any, heard: Heard) -> ModelReply:
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
            calls=tuple(map(_masked_call, heard.calls)),
        )


def _masked_call(call: ToolCall) -> ToolCall:
    secrets = secrets_in_environment()
    return ToolCall(masked(call.call_id, secrets), masked(call.name, secrets), masked(call.arguments, secrets))


def _with_tools(tools: Sequence[ToolSpec]) -> dict[str, object]:
    """The parameters for tools. Several calls in one turn are what providers allow unless they are told otherwise."""
    return {"tools": [tool_json(tool) for tool in tools], "tool_choice": "auto"} if tools else {}


def _with_schema(
    messages: Sequence[Mapping[str, object]], schema: Mapping[str, object] | None
) -> list[Mapping[str, object]]:
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
