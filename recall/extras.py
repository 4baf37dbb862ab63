"""How an extra of this package is installed into the Python that runs it."""

from __future__ import annotations

import shlex
import sys


def how_to_install(extra: str) -> str:
    """The command, with the pip that history-recall itself was installed with: another one installs elsewhere."""
    pip = f"{shlex.quote(sys.executable or 'python3')} -m pip install"
    return f"in the checkout: {pip} '.[{extra}]'; for a released version: {pip} 'history-recall[{extra}]'"
