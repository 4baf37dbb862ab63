from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.models.setting import Setting, open_setting


@pytest.fixture
def setting(tmp_path: Path) -> Iterator[Setting]:
    made = open_setting(tmp_path)
    yield made
    made.database.close()
