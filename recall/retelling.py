"""What a model makes of the words of topics after `forget`, which has given them those of the facets that are left.

Asked after the transaction that forgets, so that nothing waits for a model. The road is that of indexing: cache,
consent, charge, caps. Where it ends early the extractive words stay, the answer says why, and the topics wait for the
next repair.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from recall.errors import RecallError
from recall.index import retold
from recall.index.publish import bump_generation
from recall.models import pace
from recall.models.gate import ConsentGate
from recall.models.request import FacetCard
from recall.models.tokens import meter_for
from recall.roads import road_of
from recall.run import Run
from recall.settings import HOST
from recall.steps.retell import retell


@dataclass
class Retold:
    """Topic ids: those with a model's words, and those that keep the extractive ones, because of `error`."""

    calls: int = 0
    by_model: list[str] = field(default_factory=list)
    extractive: list[str] = field(default_factory=list)
    error: RecallError | None = None

    def as_json(self) -> dict[str, object]:
        return {
            "calls": self.calls,
            "by_model": self.by_model,
            "extractive": self.extractive,
            "code": None if self.error is None else self.error.code,
            "message": None if self.error is None else f"{self.error.message}: {self.error.hint}",
        }


def retell_topics(run: Run, profile_no: int, topic_ids: Sequence[str]) -> Retold:
    """Let the model that is set word the topics anew."""
    done = Retold()
    with run.database.read() as connection:
        left = [topic_id for topic_id in topic_ids if retold.facets(connection, profile_no, topic_id)]
    if run.settings.offline or run.settings.model == HOST or not left:
        done.extractive = left
        return done
    try:
        asyncio.run(_ask(run, profile_no, left, done))
    except RecallError as error:
        done.error = error
    done.extractive = [topic_id for topic_id in left if topic_id not in done.by_model]
    return done


async def _ask(run: Run, profile_no: int, topic_ids: Sequence[str], done: Retold) -> None:
    gate = ConsentGate(run.database, profile_no)
    async with road_of(run, profile_no, gate=gate) as road:
        try:
            meter = meter_for(run.settings, pace.halvings(run.database, run.settings))
            for topic_id in topic_ids:
                with run.database.read() as connection:
                    version = retold.version(connection, profile_no, topic_id)
                    left = retold.facets(connection, profile_no, topic_id)
                cards = [FacetCard(one.title, one.description, one.aliases, one.statements) for one in left]
                gate.about = partial(retold.projects, profile_no=profile_no, topic_id=topic_id)
                words = await retell(cards, road, meter)
                with run.database.write() as connection:
                    if retold.write(connection, profile_no, topic_id, version, words, run.clock()):
                        bump_generation(connection, profile_no)
                        done.by_model.append(topic_id)
        finally:
            done.calls = road.calls
