"""What large logs cost: memory at its highest, in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.paths import MAX_BYTES
from tests.hosts.logs import HEADER, line, read, said
from tests.shared import ROOT

MIB = 1 << 20
LONG = 30 * MIB

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="measures with getrusage")

_MEASURE = """
import json, resource, sys
from pathlib import Path
from tests.hosts.logs import Plain
from recall.hosts.reading import open_log
from recall.types import SourceRef
number, last, longest = 0, "", 0
with open_log(SourceRef("pi", sys.argv[1]), Plain()) as log:
    for entry in log.entries():
        number, last, longest = number + 1, entry.text[-40:], max(longest, len(entry.text))
    outline = log.outline()
try:  # on Linux ru_maxrss begins with what the parent held when it forked
    status = Path("/proc/self/status").read_text()
    peak = int(status.split("VmHWM:")[1].split()[0]) * 1024
except (OSError, IndexError):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
print(json.dumps({"entries": number, "last": last, "longest": longest, "peak": peak, "marks": len(outline.marks),
                  "bytes": outline.fingerprint.content_bytes, "warnings": len(outline.warnings)}))
"""


def measure(path: Path) -> dict[str, object]:
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, str(path)], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    result = json.loads(done.stdout)
    assert isinstance(result, dict)
    return result


@pytest.fixture
def large(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "large.jsonl"
    yield path
    path.unlink(missing_ok=True)  # pytest keeps folders of several runs


def result(entry_id: str, parent: str | None, text: str) -> bytes:
    body = {"role": "toolResult", "toolName": "bash", "content": [{"type": "text", "text": text}]}
    return line({"type": "message", "id": entry_id, "parentId": parent, "message": body})


def fill(path: Path, size: int, first: bytes) -> None:
    """A log of exactly this size: the header, a long line, lines of 60 kB, and one that ends where it has to."""
    with path.open("wb") as file:
        file.write(line(HEADER) + first)
        number, parent = 0, "long"
        while size - file.tell() > 130_000:
            file.write(result(f"{number:08x}", parent, "abc def ghi " * 5000))
            number, parent = number + 1, f"{number:08x}"
        frame = len(result("last", parent, ""))
        file.write(result("last", parent, "z" * (size - file.tell() - frame)))
    assert path.stat().st_size == size


@pytest.mark.parametrize("end", [" gannet-9931", " \U0001f600 gannet-9931"])
def test_a_full_log_with_a_line_of_30_mib(large: Path, end: str) -> None:
    """With one emoji in it the line is four bytes a character in memory."""
    fill(large, MAX_BYTES, result("long", None, "lorem ipsum\n" * (LONG // 13) + end))
    found = measure(large)
    assert found["bytes"] == MAX_BYTES
    assert found["marks"] == found["entries"]
    assert found["warnings"] == 0
    assert int(str(found["longest"])) > LONG * 12 // 13
    assert int(str(found["peak"])) < 350 * MIB


def test_a_line_as_long_as_the_file_is_read_whole(large: Path) -> None:
    frame = len(line(HEADER)) + len(result("long", None, "gannet-9931"))
    with large.open("wb") as file:
        file.write(line(HEADER) + result("long", None, "x" * (MAX_BYTES - frame) + "gannet-9931"))
    found = measure(large)
    assert found["entries"] == 1
    assert str(found["last"]).endswith("xxxgannet-9931")
    assert int(str(found["peak"])) < 600 * MIB


def test_400_000_tiny_lines(large: Path) -> None:
    with large.open("wb") as file:
        file.write(line(HEADER))
        for number in range(400_000):
            file.write(b'{"type":"x","id":"%08x","parentId":"%08x"}\n' % (number + 1, number))
    found = measure(large)
    assert found["entries"] == 400_000
    assert int(str(found["peak"])) < 200 * MIB


def test_a_byte_more_is_too_large(large: Path) -> None:
    with large.open("wb") as file:
        file.write(line(HEADER) + line(said("a1", None)))
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(SourceError, match="source_too_large"):
        read(large)
