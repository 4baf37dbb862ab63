"""An index is made whole or not at all, also where the disk is full; one that may not be written to can be read."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from recall.errors import StateError
from recall.index.database import Database
from tests.process.limits import with_file_limit


@pytest.mark.parametrize("kilobytes", [8, 64, 128])
def test_a_disk_that_fills_while_the_index_is_made_leaves_none(home: Path, kilobytes: int) -> None:
    path = home / "index.db"
    code = with_file_limit(kilobytes * 1024, path)
    assert code in ("disk_full", "index_unavailable")
    assert list(home.iterdir()) == []
    Database.open(path).close()


def test_an_index_in_a_folder_that_may_not_be_written_to_can_be_read(home: Path) -> None:
    folder = home / "shelf"
    path = folder / "index.db"
    Database.open(path).close()
    path.chmod(stat.S_IRUSR)
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    before = sorted(os.listdir(folder))
    try:
        if os.access(path, os.W_OK):
            pytest.skip("this user may write to everything")
        database = Database.open_for_reading(path)
        with database.read() as connection:
            assert connection.execute("SELECT count(*) FROM profiles").fetchone()[0] == 0
        database.close()
        assert sorted(os.listdir(folder)) == before
        with pytest.raises(StateError):
            Database.open(path)
    finally:
        folder.chmod(stat.S_IRWXU)
