"""Which words stand in the raw bytes of files: a program of its own, that never opens an index as SQLite does.

Run as `python raw_scan.py`, with {"words": [...], "paths": [...]} as JSON on stdin; path -> words found on stdout.
In the process that has an index open its files must not be opened a second time: closing one lets go of every lock
that SQLite holds on it there (POSIX), and other processes then change the file under the open connection.
"""

from __future__ import annotations

import json
import re
import sys

CHUNK = 1 << 20


def words_in(path: str, words: list[str]) -> list[str]:
    """Those of the words (lower case) that a file holds now, ASCII case aside; none where it is not there."""
    known = {word.encode("utf-8").lower(): word for word in words}
    pattern = re.compile(b"|".join(map(re.escape, known)), re.IGNORECASE)
    reach = max(map(len, known)) - 1
    found: set[str] = set()
    try:
        with open(path, "rb") as file:
            before = b""
            while chunk := file.read(CHUNK):  # it may grow, or be cut, while it is read
                data = before + chunk
                found |= {known[match[0].lower()] for match in pattern.finditer(data)}
                before = data[len(data) - reach :] if reach else b""
    except FileNotFoundError:
        pass
    return sorted(found)


if __name__ == "__main__":
    asked = json.loads(sys.stdin.buffer.read())
    json.dump({path: words_in(path, asked["words"]) for path in asked["paths"]}, sys.stdout)
