"""Tool calls put together from the pieces of a stream.

The protocol says: a call's first piece names it and gives its id, the others carry its index and more of its
arguments. Servers differ: the id comes with each piece, anew with each piece, or never; the name comes with each; the
arguments come as an object; all calls have index 0. So the index says which call a piece belongs to, and a piece that
names a tool begins another call where the one before it cannot go on: its arguments are whole, or its name is another.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from recall.models.turns import ToolCall


@dataclass(slots=True)
class _Growing:
    call_id: str
    name: str
    arguments: str = ""

    @property
    def whole(self) -> bool:
        """Whether the arguments are one whole JSON value, so that anything more would spoil them."""
        try:
            json.loads(self.arguments)
        except (ValueError, RecursionError):
            return False
        return True


class ToolCalls:
    """The calls of one reply, in the order in which they began."""

    def __init__(self) -> None:
        self._order: list[_Growing] = []
        self._by_index: dict[int, _Growing] = {}

    def add(self, pieces: object) -> None:
        """The `tool_calls` of one delta, of whatever type a client library gives it."""
        for place, piece in enumerate(pieces if isinstance(pieces, list | tuple) else ()):
            function, index = _part(piece, "function"), _part(piece, "index")
            self._take(
                index if isinstance(index, int) else place,
                _text(_part(piece, "id")),
                _text(_part(function, "name")),
                _text(_part(function, "arguments")),
            )

    def done(self) -> tuple[ToolCall, ...]:
        """The calls as far as they came."""
        return tuple(ToolCall(one.call_id, one.name, one.arguments) for one in self._order)

    def _take(self, index: int, call_id: str, name: str, arguments: str) -> None:
        call = self._by_index.get(index)
        if call is None or _is_another(call, call_id, name, arguments):
            call = self._by_index[index] = _Growing(call_id, name)
            self._order.append(call)
        elif name != call.name and not (call.name and call.arguments):
            call.name += name  # in pieces, or late
        call.call_id = call.call_id or call_id
        call.arguments += arguments


def _is_another(call: _Growing, call_id: str, name: str, arguments: str) -> bool:
    """Whether a piece with the index of this call begins the next one."""
    if not name:
        return False
    fresh = bool(call_id) and call_id != call.call_id
    if name == call.name:
        return (fresh or (not call_id and bool(arguments.strip()))) and call.whole
    return bool(call.name) and (fresh or bool(call.arguments))


def _part(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _text(value: object) -> str:
    """The piece as text; an object, where text is due, as the JSON that it stands for."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)
