"""kill -9 again and again at drawn moments of a long `index-all`; in the end it is as if nothing had happened.

KILLS=20 python -m pytest tests/process/test_kill_long.py takes more of them.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from tests.process.world import World, assert_sound, until, visible
from tests.shared import SHARED

TALKS = SHARED / "bench" / "locomo" / "26" / "sources"
DELAY = 0.02


@pytest.mark.skipif(not TALKS.is_dir(), reason="needs the labelled conversations of shared/ beside the checkout")
def test_a_long_run_killed_again_and_again_ends_like_an_undisturbed_one(tmp_path: Path) -> None:
    kills = int(os.environ.get("KILLS", "8"))
    draw = random.Random(26)
    world = World(tmp_path / "home")
    world.folder.mkdir(parents=True)
    for source in TALKS.glob("*.jsonl"):
        shutil.copyfile(source, world.folder / source.name)
    count = len(list(world.folder.iterdir()))
    calm = World(world.home, variables={"HISTORY_RECALL_DB": str(tmp_path / "calm" / "index.db")})
    begun = time.monotonic()
    undisturbed = calm.done("index-all", delay=DELAY)
    whole = time.monotonic() - begun
    assert (len(undisturbed["completed"]), undisturbed["failed"], undisturbed["left"]) == (count, [], 0)
    expected = visible(calm)

    killed = cut_off = asked = 0
    while killed < kills:
        world = World(world.home, variables={"HISTORY_RECALL_DB": str(tmp_path / f"killed-{killed}" / "index.db")})
        since = killed
        published: set[str] = set()
        while killed < kills:
            process = world.start("index-all", delay=DELAY)
            # Some progress, so that it comes to an end at all, then any moment: reading, a request, a commit.
            steps = draw.randrange(1, 8)
            until(lambda: process.code is not None or process.err.count("\n") >= steps)  # noqa: B023 - called here
            time.sleep(draw.uniform(0.0, whole / count))
            process.signal(signal.SIGKILL)
            until(lambda: process.code is not None)  # noqa: B023
            if process.code != -signal.SIGKILL:
                break  # it was done before all the kills were
            killed += 1
            now = visible(world)
            assert published <= set(now)
            published = set(now)
            for name in published - {"topics"}:
                assert now[name] == expected[name]
            assert_sound(world)
            jobs = world.look()["jobs"]
            assert [job["state"] for job in jobs] in ([], ["interrupted"])
            cut_off += len(jobs)
        world.done("index-all", delay=DELAY)
        assert visible(world) == expected
        assert_sound(world)
        look = world.look()
        assert (look["jobs"], look["queue"]["waiting"]) == ([], 0)
        # What was answered and kept was not paid again: only what was under way at a kill was.
        asked, again = (one.rows("SELECT count(*) FROM ledger")[0][0] for one in (calm, world))
        assert asked <= again <= asked + 3 * (killed - since)
    assert killed == kills
    assert cut_off > 0
    assert asked > count
