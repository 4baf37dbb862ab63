"""Making an index in a process that may write only so many bytes to a file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.shared import ROOT

_CODE = """
import resource, signal, sys
from pathlib import Path
from recall.errors import StateError
from recall.index.database import Database
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), int(sys.argv[1])))
try:
    Database.open(Path(sys.argv[2]))
except StateError as error:
    print(error.code)
"""


def with_file_limit(size: int, path: Path) -> str:
    """The code that making the index ends with where no file may have more than `size` bytes ("": it was made)."""
    command = [sys.executable, "-c", _CODE, str(size), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.strip()
