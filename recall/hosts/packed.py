"""Logs that were packed with zstd: read as a stream, at most as much of it as a plain log may have.

Python reads zstd by itself from 3.14 on; before that the extra `zstd` brings a library. Without either such a log is
named, and refused with the way to read it.
"""

from __future__ import annotations

import importlib
import os
from typing import BinaryIO, cast

from recall.errors import SourceError
from recall.extras import how_to_install
from recall.hosts.paths import MAX_BYTES, open_source
from recall.types import SourceRef

_CHUNK = 1 << 20


def opened(source: SourceRef) -> tuple[BinaryIO, os.stat_result, int]:
    """The unpacked log, what the descriptor of the packed one says, and how much of it is read at most.

    Raises SourceError `unsupported_source` without a library; what is read raises `source_unreadable` for damage and
    `source_too_large` beyond the limit.
    """
    file = open_source(source)
    try:
        return cast("BinaryIO", _Unpacked(file)), os.fstat(file.fileno()), MAX_BYTES + 1
    except SourceError:
        file.close()
        raise


class _Unpacked:
    """What of a binary file the readers use. To go back is to begin again; how long it is, only reading it says."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = _stream(file)
        self._at = 0

    def __enter__(self) -> BinaryIO:
        return cast("BinaryIO", self)

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        self._stream.close()
        self._file.close()

    def fileno(self) -> int:
        return self._file.fileno()

    def seekable(self) -> bool:
        return False

    def seek(self, offset: int) -> int:
        if offset < self._at:
            self._file.seek(0)
            self._stream, self._at = _stream(self._file), 0
        while self._at < offset and self.read(min(_CHUNK, offset - self._at)):
            pass
        return self._at

    def read(self, size: int) -> bytes:
        """As much as was asked for, less only at the end."""
        pieces = []
        while size > 0 and (piece := self._piece(size)):
            pieces.append(piece)
            size -= len(piece)
            self._at += len(piece)
        if self._at > MAX_BYTES:
            message = f"the packed log holds more than {MAX_BYTES} bytes"
            raise SourceError("source_too_large", message, data={"limit_bytes": MAX_BYTES})
        return b"".join(pieces)

    def _piece(self, size: int) -> bytes:
        try:
            return self._stream.read(size)
        except OSError:
            raise
        except Exception as error:  # each library has an error of its own for a damaged frame
            raise SourceError("source_unreadable", "the packed log is damaged", "restore the file") from error


def _stream(file: BinaryIO) -> BinaryIO:
    try:
        return cast("BinaryIO", importlib.import_module("compression.zstd").ZstdFile(file))
    except ModuleNotFoundError:
        pass
    try:
        reader = importlib.import_module("zstandard").ZstdDecompressor()
    except ModuleNotFoundError as error:
        message = "the log is packed with zstd, which this Python cannot read by itself"
        raise SourceError("unsupported_source", message, how_to_install("zstd")) from error
    return cast("BinaryIO", reader.stream_reader(file, read_across_frames=True))
