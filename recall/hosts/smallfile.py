"""The beginning of a small file in a folder that anybody may have made: never a pipe that nobody writes to, never more
than was asked for.
"""

from __future__ import annotations

import os
import stat

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def beginning(path: str, most: int, *, follow: bool) -> bytes | None:
    """At most `most` bytes of an ordinary file; None where there is none that can be read. `follow`: also by a link."""
    try:
        descriptor = os.open(path, _FLAGS | (0 if follow else getattr(os, "O_NOFOLLOW", 0)))
    except (OSError, ValueError):
        return None
    try:
        return os.read(descriptor, most) if stat.S_ISREG(os.fstat(descriptor).st_mode) else None
    except OSError:
        return None
    finally:
        os.close(descriptor)
