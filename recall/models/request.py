"""What is asked of a model, and what comes back: the values on the border between the steps and the models.

A `ModelRequest` carries the same question twice: `content`, the fenced text for a chat model, and `task`, the same
data as values for the built-in extractive analyser. Only `content` and the prompt are ever sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from recall.models.turns import ToolCall, ToolSpec, TurnRequest
from recall.prompts import Prompt
from recall.types import Role, TopicCard

RequestKind = Literal["analysis", "map", "reduce", "final", "placement", "rewrite", "repair", "retell"]


@dataclass(frozen=True, slots=True)
class ShownEntry:
    """A piece of an entry as a model sees it.

    `start` is its offset in the entry's text, `whole` the length of that text where this is only a part of it
    (0 for a whole entry). `turn`: the entry that begins the message of which this is a further block.
    """

    entry_id: str
    role: Role
    text: str
    start: int = 0
    abandoned: bool = False
    at: int | None = None
    tool: str | None = None
    whole: int = 0
    turn: str | None = None


@dataclass(frozen=True, slots=True)
class AnalysisTask:
    """Analyse one chunk. `top` where the chunk is the whole conversation (1 to 5 facets; else 0 to 5)."""

    entries: tuple[ShownEntry, ...]
    top: bool


@dataclass(frozen=True, slots=True)
class ReduceTask:
    """Join the analyses of a lower level (objects of the analysis schema). `top` for the final request."""

    parts: tuple[Mapping[str, object], ...]
    top: bool


@dataclass(frozen=True, slots=True)
class FacetCard:
    """A facet as placement sees it."""

    title: str
    description: str
    aliases: tuple[str, ...]
    statements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementTask:
    """One page of the catalogue, all facets, and for each facet the candidates carried from the pages before."""

    facets: tuple[FacetCard, ...]
    page: tuple[TopicCard, ...]
    carried: tuple[tuple[TopicCard, ...], ...]
    last: bool


@dataclass(frozen=True, slots=True)
class RewriteTask:
    """The queries of a search, redacted, and the languages that the profile is written in."""

    queries: tuple[str, ...]
    languages: tuple[str, ...]


Task = AnalysisTask | ReduceTask | PlacementTask | RewriteTask


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One question. `content` is the user message; the prompt's instructions are the system message."""

    kind: RequestKind
    prompt: Prompt
    content: str
    task: Task | None
    max_output_tokens: int = 4096


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a provider returned for one started request. Tokens and cost are None where it did not say.

    `calls` only where tools were sent along.
    """

    text: str
    finish_reason: str
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    calls: tuple[ToolCall, ...] = ()


@runtime_checkable
class RemoteModel(Protocol):
    """A model behind an endpoint. `send` starts exactly one request, or raises a ModelError."""

    name: str
    provider: str
    endpoint: str

    async def send(
        self,
        messages: Sequence[Mapping[str, object]],
        *,
        schema: Mapping[str, object] | None,
        tools: Sequence[ToolSpec] = (),
        max_output_tokens: int,
        timeout: float,  # noqa: ASYNC109 - the request's own limit: one cut from outside could not be settled
    ) -> ModelReply: ...

    async def close(self) -> None: ...


@runtime_checkable
class LocalModel(Protocol):
    """A model inside this process: deterministic, no network, nothing to charge."""

    name: str

    def answer(self, request: ModelRequest) -> str:
        """The reply as the JSON text that the request's schema asks for."""
        ...


@runtime_checkable
class LocalChild(Protocol):
    """A model inside this process that makes tool calls too."""

    def turn(self, request: TurnRequest) -> ModelReply:
        """The reply with its `calls`, judged like any other; tokens and cost are not looked at."""
        ...


@runtime_checkable
class Preparing(Protocol):
    """A model that has something to load or to check first: it is no part of a request, so nothing is charged,
    and no deadline but that of a rewrite has begun, which waits for it on another thread."""

    def prepare(self, *, tools: bool = False) -> None:
        """Raise ModelError where nothing could be sent, or `unsupported_repair_model` where `tools` could not."""
        ...
