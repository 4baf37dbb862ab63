"""The built-in extractive analyser: a model like any other, in this process, without a key or network.

It answers from the values of the task, never from the rendered text of the request, and every sentence it gives is a
quote. Equal tasks give equal replies, byte for byte, in every process. How it cuts, weighs and names things is in
`recall.models.extractive`; this module only turns a task into a reply.
"""

from __future__ import annotations

import json

from recall.models.extractive.analysis import analyse
from recall.models.extractive.child import take_turn
from recall.models.extractive.placement import place
from recall.models.extractive.reduce import reduce
from recall.models.request import AnalysisTask, ModelReply, ModelRequest, PlacementTask, ReduceTask
from recall.models.turns import TurnRequest


class OfflineModel:
    """Answers analysis, reduction and placement, and makes the turns of repair, by counting words."""

    name = "offline"

    def answer(self, request: ModelRequest) -> str:
        """The reply as JSON text. A request without a task, or of another kind, is a mistake of the caller."""
        return json.dumps(self._reply(request), ensure_ascii=False)

    def turn(self, request: TurnRequest) -> ModelReply:
        """The next turn of a repair."""
        return take_turn(request)

    def _reply(self, request: ModelRequest) -> dict[str, object]:
        match request.task:
            case AnalysisTask() as task:
                return analyse(task)
            case ReduceTask() as task:
                return reduce(task)
            case PlacementTask() as task:
                return place(task)
            case _:
                raise ValueError(f"the offline model cannot answer a request of kind {request.kind!r}")
