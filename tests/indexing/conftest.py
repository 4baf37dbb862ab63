from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.indexing.product import Product, at_server, without_litellm_warnings


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    without_litellm_warnings(items, Path(__file__).parent)


@pytest.fixture
def product(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Product]:
    with at_server(home, tmp_path, monkeypatch) as made:
        yield made
