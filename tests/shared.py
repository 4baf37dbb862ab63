"""Where the folder `shared/` is that may lie beside the checkout, and the marker for tests that need it."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SHARED = (ROOT.parent / "shared").resolve()

needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason="needs the folder shared/ beside the checkout")
