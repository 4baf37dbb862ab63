from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.servers.chat_server import ChatServer
from benchmarks.servers.replies import answer
from tests.indexing.product import Product

# What litellm's import and its models warn of is not ours; everything else stays an error.
_NOT_OURS = "ignore:Accessing the .* attribute on the instance is deprecated"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """litellm's own warnings do not fail the tests of this folder."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings(_NOT_OURS))


@pytest.fixture
def product(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Product]:
    """The product set up for a server on this machine that answers validly, with room enough in every cap."""
    with ChatServer(responder=answer) as server:
        made = Product(home, tmp_path / "data" / "index.db", server, monkeypatch)
        made.set(
            db=str(made.database), model="openai/local", api_base=server.url, batch_calls="500", daily_calls="2000"
        )
        made.set(repair="never")  # tests of repair ask for it
        monkeypatch.setenv("OPENAI_API_KEY", "local-key")
        yield made
