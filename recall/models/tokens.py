"""How long a text is for a model, and how long what it is sent in one request may be, instructions included.

Tokens are counted where litellm carries the model's own encoding with it (OpenAI's models); for any other it would
fetch one or take one that is not the model's, so there the measure is UTF-8 bytes, about three to a token in code and
in Chinese. The limit leaves room for the reply. A larger window is not used up: short chunks are read more closely,
and an append sends less again. litellm is loaded only when something is measured for a model that it may know.
"""

from __future__ import annotations

import functools
from typing import Any

from recall.models.endpoints import is_loopback, provider_of
from recall.settings import HOST, Settings

REPLY_TOKENS = 4096 + 512  # the reply, and what a re-ask adds
MOST_TOKENS = 24_000
BYTES_A_TOKEN = 3
OFFLINE_BYTES = 64_000
OFFLINE_DIALOGUE_BYTES = 256_000  # the built-in child has no window; this bounds what a turn of it takes to read
MOST_BYTES = 48_000
UNKNOWN_BYTES = 24_000  # fits a context of 16k tokens with the reply
# A model on a laptop's processor reads about 100 tokens a second and writes 15: this and its reply fit the deadline.
LOOPBACK_BYTES = 16_000
INSTRUCTION_BYTES = 6_500  # about what the longest instructions take with their schema: only what is beside them halves
LEAST_TOKENS = 2_000
_OWN_ENCODING = frozenset({"openai", "azure"})
# Programs that people run themselves, where a context is as long as the machine allows.
_SELF_RUN = frozenset({"ollama", "ollama_chat", "lm_studio", "hosted_vllm", "vllm", "llamafile", "xinference"})


class Meter:
    """UTF-8 bytes against a fixed limit."""

    def __init__(self, limit: int, dialogue: int | None = None) -> None:
        self._limit = limit
        self._dialogue = dialogue

    @property
    def name(self) -> str:
        """The unit: `bytes` or `tokens`."""
        return "bytes"

    @property
    def limit(self) -> int:
        return self._limit

    @property
    def dialogue(self) -> int:
        """What a conversation with tools may come to: where only what is new is read again in each turn, more."""
        return self.limit if self._dialogue is None else self._dialogue

    def measure(self, text: str) -> int:
        return len(text.encode("utf-8", "surrogatepass"))


class KnownMeter(Meter):
    """What litellm's own table knows of the model, asked when it is first needed; else `limit` bytes."""

    def __init__(self, model: str, limit: int) -> None:
        super().__init__(limit)
        self._model = model

    @property
    def name(self) -> str:
        return "tokens" if self._counted else "bytes"

    @property
    def limit(self) -> int:
        if self._window is None:
            return self._limit
        tokens = max(LEAST_TOKENS, min(MOST_TOKENS, self._window - REPLY_TOKENS))
        return tokens if self._counted else min(MOST_BYTES, tokens * BYTES_A_TOKEN)

    def measure(self, text: str) -> int:
        if not self._counted:
            return super().measure(text)
        return int(_litellm().token_counter(model=self._model, text=text))

    @property
    def _counted(self) -> bool:
        return self._window is not None and provider_of(self._model) in _OWN_ENCODING

    @functools.cached_property
    def _window(self) -> int | None:
        # The table itself: litellm's function for it asks an Ollama server about names that are not in it.
        table = _litellm().model_cost
        known = table.get(self._model) or table.get(self._model.partition("/")[2]) or {}
        tokens = known.get("max_input_tokens")
        return tokens if isinstance(tokens, int) else None


def meter_for(settings: Settings, halvings: int = 0) -> Meter:
    """The meter of the settings' model. `halvings`: how often a server on this machine was found too slow (`pace`)."""
    if settings.offline:
        return Meter(OFFLINE_BYTES, dialogue=OFFLINE_DIALOGUE_BYTES)
    if settings.model == HOST:
        return Meter(UNKNOWN_BYTES)  # litellm knows nothing of it
    if settings.api_base and is_loopback(settings.api_base):
        limit = INSTRUCTION_BYTES + (LOOPBACK_BYTES - INSTRUCTION_BYTES >> halvings)
        # Servers that people run keep what they have read of a conversation; its context is what bounds it.
        return Meter(limit, dialogue=limit + UNKNOWN_BYTES - LOOPBACK_BYTES)
    self_run = settings.api_base is not None or provider_of(settings.model) in _SELF_RUN
    return KnownMeter(settings.model, UNKNOWN_BYTES if self_run else MOST_BYTES)


def _litellm() -> Any:
    # Where litellm is imported, and told what not to do, is one function there.
    from recall.models.litellm_model import loaded

    return loaded()
