"""Put on the import path of product processes that others start: their runs use a scripted model that can be held.

It answers the first two requests of all processes together; what comes then waits until the file `go` is there. Each
request leaves a line in the file `sent`. Importing litellm in each of them would take most of the time of a test.
"""

import asyncio
import os
from pathlib import Path
from typing import Any

from recall.surfaces import job_calls
from tests.process import driver
from tests.process.provider import Provider

FOLDER = Path(os.environ["HELD_MODEL"])


class Held(Provider):
    """The scripted provider, held at the third request."""

    async def send(self, messages: Any, **rest: Any) -> Any:
        reply = await super().send(messages, **rest)
        sent = (FOLDER / "sent").read_text(encoding="utf-8").splitlines()
        while len(sent) > 2 and not (FOLDER / "go").exists():  # noqa: ASYNC110 - another process makes it
            await asyncio.sleep(0.05)
        return reply


vars(driver)["Provider"] = Held  # the driver makes its provider by this name
driver.with_model({"sent": str(FOLDER / "sent"), "limits": {"grace_seconds": 0.5}})
# On a slow machine a call over MCP would be answered before it can be cancelled.
vars(job_calls)["PATIENCE"] = 600.0
