"""What the file system says of the folder a conversation ran in: its real path, its marker, its repository.

Only looked at, never listed deep, and git is not run: a worktree names its repository in files. A folder that is gone
is known by its path, one on another system or on another machine by that as it is written. Nothing here is an error.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from dataclasses import dataclass

from recall import folders
from recall.folders import Folder
from recall.hosts import marker, smallfile

_MOST_NAMES, _FEWEST_NAMES = 64, 3
_LINK = re.compile(r"gitdir: (.+?)\s*")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a conversation ran. `folders`: as the log writes it, and its real path where that is another.

    `there`: the folder is on this machine, now.
    """

    folders: tuple[Folder, ...] = ()
    marker: str | None = None
    git_group: str | None = None
    there: bool = False


NOWHERE = Place()


def place_of(cwd: str | None) -> Place:
    """What is known of a directory."""
    named = folders.parse(cwd)
    if named is None or cwd is None:
        return NOWHERE
    if not is_here(named):
        return Place((named,))
    real = os.path.realpath(cwd)  # of one that is gone, the part that is there: a link above it leads on
    both = tuple(dict.fromkeys((named, folders.parse(real) or named)))
    return Place(both, marker.read(real), git_group(real), there=True) if os.path.isdir(real) else Place(both)


def is_here(folder: Folder) -> bool:
    """Whether a path could be one of this machine, and be looked at without a network."""
    return folder.flavour == ("windows" if sys.platform == "win32" else "posix") and not folder.is_share


def git_group(folder: str) -> str | None:
    """The common git folder of the repository that a folder is in: its worktrees share it, a clone has another.

    None outside of a repository, and where it cannot be told.
    """
    found = _git_link(folder)
    while found is None:
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
        found = _git_link(folder)
    return found


def is_git_root(folder: str) -> bool:
    """Whether the folder is the root of a repository or of a worktree."""
    return _git_link(folder) is not None


def _git_link(folder: str) -> str | None:
    path = os.path.join(folder, ".git")
    if os.path.isdir(path):
        return os.path.realpath(path) if os.path.exists(os.path.join(path, "HEAD")) else None
    match = _LINK.fullmatch(_line(path))
    if match is None:
        return None
    git = os.path.join(folder, match[1])
    common = _line(os.path.join(git, "commondir")).strip()
    common = os.path.realpath(os.path.join(git, common))
    return common if os.path.isdir(common) else None


def _line(path: str) -> str:
    return (smallfile.beginning(path, 4096, follow=True) or b"").decode("utf-8", "replace")


def folds_case(folder: str) -> bool:
    """Whether the file system there does not tell case apart."""
    other = os.path.join(os.path.dirname(folder), os.path.basename(folder).swapcase())
    try:
        return other != folder and os.path.samefile(folder, other)
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Sighting:
    """What a folder is recognised by when it has moved: its number in the file system, and digests of its names."""

    device: int = 0
    inode: int = 0
    names: tuple[str, ...] = ()

    def resembles(self, other: Sighting) -> bool:
        """Whether two are likely of one folder: the same number, or at least three names and most of them."""
        if self.inode and (self.device, self.inode) == (other.device, other.inode):
            return True
        common = len(set(self.names) & set(other.names))
        return common >= _FEWEST_NAMES and common * 5 >= max(len(self.names), len(other.names)) * 4


def sighting(folder: str) -> Sighting:
    """What the folder looks like now; nothing where it cannot be looked at."""
    try:
        status = os.stat(folder)
        names = sorted(name for name in os.listdir(folder) if name not in (marker.NAME, ".git"))
    except OSError:
        return Sighting()
    digests = (hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:10] for name in names[:_MOST_NAMES])
    return Sighting(status.st_dev, status.st_ino, tuple(digests))
