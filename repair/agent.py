"""The bounded loop: ask for a turn, serve its calls, until one of them ends the run.

`run → step → query + execute`. Limits are checked before a request is sent; reads of one turn look at their sources
side by side and are applied in order. What a reply did to end the run badly drops that reply alone; where it was a kept
one, the model is asked anew.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from recall import prompts
from recall.errors import ModelError
from recall.hashing import canonical_json
from recall.index.members import Member
from recall.models.turns import ToolCall, Turn, TurnRequest, assistant_message
from recall.steps.asking import Meter
from repair import context, serving
from repair.case import Case
from repair.context import Message, Record
from repair.draft import Health
from repair.proof import Proof
from repair.serving import Arguments, Paper, Result
from repair.tools import FINISH, TOOLS, BadCall, arguments_of

PROMPT = "repair"
PROMPT_VERSION = "2"
_STATUS_ROOM = 400  # what the status may grow by in one turn
_LAST_TIME = {"warning": "the same call as before, in the same state: a third one ends the run without a result"}
_WAY_ON = "index with --no-repair, and name another model for `history-recall repair`"


class Asker(Protocol):
    """The road as the child uses it."""

    @property
    def width(self) -> int: ...

    async def turn(self, request: TurnRequest, *, source: str | None = None) -> Turn: ...

    def drop(self, key: str) -> None: ...


class DialogueMeter(Meter, Protocol):
    """How long a text is for the model, and how long a conversation with tools may be, instructions included."""

    @property
    def dialogue(self) -> int: ...


class Originals(Protocol):
    """Where the original records are."""

    def look(self, member: Member, entry_ids: Sequence[str]) -> Callable[[], str | None]:
        """A job for any thread: what is wrong with these records in the member's source, as a code, or None."""
        ...


class Ended(Exception):
    """A reply ended the run without a proof."""

    def __init__(self, error: ModelError) -> None:
        super().__init__(error.message)
        self.error = error


@dataclass
class Agent:
    """One child on one case."""

    case: Case
    road: Asker
    originals: Originals
    health: Health
    meter: DialogueMeter
    source: str | None = None
    progress: Callable[[int, int], None] = lambda done, total: None

    def __post_init__(self) -> None:
        self.records: list[Record] = []
        self._instructions = prompts.instructions(PROMPT)
        tools = canonical_json([[tool.name, tool.description, tool.parameters] for tool in TOOLS])
        self._sizes: dict[str, int] = {}
        self.room = self.meter.dialogue - self._measure(self._instructions) - self._measure(tools)
        self._asked: dict[tuple[str, str, str], int] = {}
        self._malformed = self._wordy = 0

    async def run(self) -> Proof:
        """The proof of what came of it. Raises ModelError, SourceError `stale_evidence`, StateError."""
        first = context.fitting(self.case, self.room, self._measure)
        if first is None:
            raise _too_small(self.meter.dialogue)
        while True:
            proof = await self.step(first)
            if proof is not None:
                return proof

    async def step(self, first: Message) -> Proof | None:
        """One turn: asked for and served."""
        turn = await self.query(first)
        before = self.case.copy(), dict(self._asked), self._malformed, self._wordy
        try:
            return await self.execute(first, turn)
        except Ended as ended:
            self.road.drop(turn.key)
            if not turn.cached:
                raise ended.error from ended
            self.case, self._asked, self._malformed, self._wordy = before
            return None

    async def query(self, first: Message) -> Turn:
        """The model's next turn, within the limits."""
        limits = self.case.limits
        # Kept turns cost nothing and are not counted, so that a run that came to its limit goes on with the next one.
        asked = sum(not record.turn.cached for record in self.records)
        self.progress(asked, limits.turns)
        if asked >= limits.turns:
            raise self._incomplete(f"{limits.turns} turns a run are the most", len(self.records))
        messages, size = context.compose(first, self.records, self.case, self.room, self._measure)
        if size > self.room:
            raise _too_small(self.meter.dialogue)
        request = TurnRequest(
            instructions=self._instructions,
            messages=messages,
            tools=TOOLS,
            prompt_version=PROMPT_VERSION,
            max_output_tokens=limits.output_tokens,
        )
        return await self.road.turn(request, source=self.source)

    async def execute(self, first: Message, turn: Turn) -> Proof | None:
        """Serve the calls of a turn, in order. The proof, where `finish` was right."""
        if not turn.calls:
            self._wordy += 1
            if self._wordy >= self.case.limits.wordy:
                raise Ended(_wordy(any(record.turn.calls for record in self.records)))
            self.records.append(Record(turn, ()))
            return None
        self._wordy = 0
        spare = self.room - context.least(first, self.records, self.case, self._measure) - _STATUS_ROOM
        total = len(turn.calls)
        turn, needs = self._fitting(turn, spare)
        spare -= context.size_of(assistant_message(turn), self._measure)
        faults = await self._look(turn.calls)
        results: list[Result] = []
        served: dict[tuple[str, str], int] = {}
        for place, call in enumerate(turn.calls, start=1):
            # Each call that is left needs room for its answer.
            room = spare - sum(needs[place:]) - context.FRAME - context.ENVELOPE
            room = max(min(room, needs[place - 1]), room - self._kept_for_notes(call))
            result = self._serve(call, place, total, served, faults, room)
            if isinstance(result, Proof):
                return result
            spare -= self._measured_inside(result.text) + context.ENVELOPE
            results.append(result)
        self.records.append(Record(turn, tuple(results)))
        return None

    def _fitting(self, turn: Turn, room: int) -> tuple[Turn, list[int]]:
        """The turn with the calls whose answers fit, in their order, and what each of those answers needs at least.

        The others count as not made: what is still to be done is told after each turn. One is kept always.
        """
        kept: list[ToolCall] = []
        needs: list[int] = []
        for call in turn.calls:
            need = self._need(call)
            takes = self._measured_inside(call.name + call.arguments) + 2 * context.ENVELOPE + need
            if takes <= room - self._kept_for_notes(call):
                kept.append(call)
                needs.append(need)
                room -= takes
        if not kept:
            kept, needs = [turn.calls[0]], [context.SHORT_ANSWER]
        return replace(turn, calls=tuple(kept)), needs

    def _need(self, call: ToolCall) -> int:
        """What the answer to a call takes of the room at least, if it is to say more than that nothing fits."""
        try:
            arguments = arguments_of(call)
        except BadCall:
            return context.SHORT_ANSWER
        text = serving.least_shown(self.case, call.name, arguments)
        return context.FRAME + self._measured_inside(text) if text else context.SHORT_ANSWER

    def _kept_for_notes(self, call: ToolCall) -> int:
        """Room that texts leave for notes, and for what follows a text: its page and its check."""
        return self.room // context.FOR_NOTES if _is_reading(call) else 0

    def _serve(
        self,
        call: ToolCall,
        place: int,
        total: int,
        served: dict[tuple[str, str], int],
        faults: Mapping[tuple[str, str], str | None],
        room: int,
    ) -> Result | Proof:
        """One call, judged and answered."""
        limits = self.case.limits
        if place > limits.calls_a_turn:
            return serving.error("too_many_calls", f"{limits.calls_a_turn} calls a turn are the most; not run")
        try:
            arguments = arguments_of(call)
        except BadCall as bad:
            self._malformed += 1
            if self._malformed > limits.malformed:
                raise Ended(_malformed(self._malformed)) from bad
            self._note(call.name, call.arguments)
            return serving.error(bad.code, bad.message)
        spelled = canonical_json(arguments)
        if (call.name, spelled) in served:
            return Result({"duplicate_of_call": served[call.name, spelled]})
        served[call.name, spelled] = place
        last_time = self._note(call.name, spelled)
        if call.name == FINISH and total > 1:
            return serving.error("finish_alone", "nothing was ended: call finish again, as the only call of its turn")
        result = self._answer(call.name, arguments, faults, room)
        if last_time and isinstance(result, Result):
            return replace(result, head={**result.head, **_LAST_TIME})
        return result

    def _answer(
        self, name: str, arguments: Arguments, faults: Mapping[tuple[str, str], str | None], room: int
    ) -> Result | Proof:
        case = self.case
        if name == "repair_read":
            fault = faults.get((str(arguments["facet_id"]), str(arguments["entry_id"])))
            return serving.read(case, arguments, fault, room, self._measured_inside)
        if name == FINISH:
            return serving.finish(case, arguments)
        if name == "repair_coverage":
            return serving.coverage(case, arguments, room, self._measured_inside)
        if name == "repair_propose":
            return serving.propose(case, arguments, self.health)
        if name == "repair_check":
            return serving.check(case, arguments)
        paper = Paper(self.room // 3, self._measured_inside)
        if name == "repair_topics":
            result = serving.topics(case, arguments, paper)
        else:
            result = serving.members(case, arguments, self.health, paper)
        return serving.full() if self._measured_inside(result.text) > room else result

    def _note(self, name: str, spelled: str) -> bool:
        """Count a call; the third of its kind in one state ends the run. Whether it is the last that does not."""
        key = (self.case.state(), name, spelled)
        self._asked[key] = self._asked.get(key, 0) + 1
        if self._asked[key] >= self.case.limits.same_call:
            if name in _full(self.records):
                raise Ended(_too_small(self.meter.dialogue))
            why = f"it made the same call of {name[:40]} {self._asked[key]} times"
            raise Ended(self._incomplete(why, len(self.records) + 1))
        return self._asked[key] == self.case.limits.same_call - 1

    def _incomplete(self, why: str, turns: int) -> ModelError:
        """How a run ends that does not get on: nothing is wrong with the index, and everything stays as it is."""
        read, all_of_it = len(self.case.read_facets()), len(self.case.audited)
        where = f"{read} of {all_of_it} facets read in {turns} turns"
        message = f"The model did not get to the end of topic repair ({where}): {why}; the topics stay as they are"
        return ModelError("repair_incomplete", message, f"run it again, or {_WAY_ON}")

    async def _look(self, calls: Sequence[ToolCall]) -> dict[tuple[str, str], str | None]:
        """Look at the sources of what is to be read, side by side."""
        jobs: dict[tuple[str, str], Callable[[], str | None]] = {}
        for call in calls[: self.case.limits.calls_a_turn]:
            try:
                arguments = arguments_of(call)
            except BadCall:
                continue
            if call.name == "repair_read" and "remember" not in arguments:
                key = (str(arguments["facet_id"]), str(arguments["entry_id"]))
                member = self.case.view.member(key[0])
                if member is not None and key not in jobs:
                    jobs[key] = self.originals.look(member, [key[1]])
        slots = asyncio.Semaphore(self.road.width)

        async def one(job: Callable[[], str | None]) -> str | None:
            async with slots:
                return await asyncio.to_thread(job)

        return dict(zip(jobs, await asyncio.gather(*map(one, jobs.values())), strict=True))

    def _measured_inside(self, text: str) -> int:
        """What a text takes inside a message, where quotes and line breaks are written as JSON writes them."""
        return self._measure(canonical_json(text))

    def _measure(self, text: str) -> int:
        if text not in self._sizes:
            self._sizes[text] = self.meter.measure(text)
        return self._sizes[text]


def _full(records: Sequence[Record]) -> set[str]:
    """The tools that were told in the last turn that no more fits."""
    last = records[-1] if records else Record(Turn("", (), cached=False, key=""), ())
    made = zip(last.turn.calls, last.results, strict=True)
    return {call.name for call, result in made if result.head.get("error") == serving.CONTEXT_FULL}


def _is_reading(call: ToolCall) -> bool:
    return call.name == "repair_read" and '"remember"' not in call.arguments


def _wordy(called: bool) -> ModelError:
    if called:
        message = "The model answered with text instead of tool calls, twice; nothing was published"
        return ModelError("invalid_model_output", message, f"run it again, or {_WAY_ON}")
    message = "The model makes no tool calls; topic repair needs them, so nothing was published"
    hint = (
        "set HISTORY_RECALL_REPAIR=never to index with this model (once: `index FILE --no-repair`), or name a model "
        "that makes tool calls"
    )
    return ModelError("unsupported_repair_model", message, hint)


def _malformed(count: int) -> ModelError:
    message = f"{count} tool calls of the model were none; nothing was published"
    return ModelError("invalid_model_output", message, f"run it again, or {_WAY_ON}")


def _too_small(limit: int) -> ModelError:
    message = f"Topic repair does not fit the model: {limit} are too few even for one facet; nothing was published"
    return ModelError("model_context_too_small", message, _WAY_ON)
