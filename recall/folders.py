"""Folders as text: the directories that logs name, of this machine or of another, POSIX or Windows.

A path is taken apart into components and compared component by component, so `/srv/share-old` is not in `/srv/share`.
`.` and `..` are resolved as text, a trailing slash says nothing, Unicode is composed. A Windows path never tells case
apart; a POSIX path does, unless the file system there does not (`folds`). Nothing here touches a file system.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

_DRIVE = re.compile(r"(?:[\\/]{2}[?.][\\/])?([A-Za-z]):(?:[\\/]|$)")
_SHARE = re.compile(r"[\\/]{2}(?:[?.][\\/]UNC[\\/])?([^\\/?.][^\\/]*)[\\/]([^\\/]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Folder:
    """An absolute folder. `root` is "/" for POSIX, "c:" for a drive, "//server/share" for a share."""

    flavour: Literal["posix", "windows"]
    root: str
    parts: tuple[str, ...]

    @property
    def is_root(self) -> bool:
        return not self.parts

    @property
    def is_share(self) -> bool:
        """Whether it lies on another machine: to look at it would mean to log in there."""
        return self.root.startswith("//")

    @property
    def name(self) -> str:
        return self.parts[-1] if self.parts else self.root

    def key(self, *, folds: bool = False) -> str:
        """What stands for the folder where two are compared."""
        return "/".join((f"{self.flavour}:{self.root.rstrip('/')}", *self._compared(folds)))

    def lineage(self, *, folds: bool = False) -> tuple[str, ...]:
        """The keys of the folder and of those above it, the nearest first."""
        names = self._compared(folds)
        start = f"{self.flavour}:{self.root.rstrip('/')}"
        return tuple("/".join((start, *names[:length])) for length in range(len(names), -1, -1))

    def is_in(self, other: Folder, *, folds: bool = False) -> bool:
        """Whether it is that folder or lies below it."""
        return other.key(folds=folds) in self.lineage(folds=folds)

    def _compared(self, folds: bool) -> tuple[str, ...]:
        if folds or self.flavour == "windows":
            return tuple(part.casefold() for part in self.parts)
        return self.parts


def is_text(path: str) -> bool:
    """Whether a path is text that an index can hold: a name of bytes that are no UTF-8 is none."""
    return not any("\ud800" <= character <= "\udfff" for character in path)


def parse(path: str | None) -> Folder | None:
    """The folder that a path names, or None where it is not absolute or cannot be one."""
    if not path or "\x00" in path:
        return None
    path = unicodedata.normalize("NFC", path)
    if drive := _DRIVE.match(path):
        return Folder("windows", f"{drive[1].lower()}:", _resolved(re.split(r"[\\/]+", path[drive.end() :])))
    if "\\" in path[:2] and (share := _SHARE.match(path)):
        root = f"//{share[1]}/{share[2]}".casefold()
        return Folder("windows", root, _resolved(re.split(r"[\\/]+", path[share.end() :])))
    if path.startswith("/"):
        return Folder("posix", "/", _resolved(path.split("/")))
    return None


def _resolved(parts: list[str]) -> tuple[str, ...]:
    kept: list[str] = []
    for part in parts:
        if part == "..":
            del kept[-1:]
        elif part not in ("", "."):
            kept.append(part)
    return tuple(kept)
