"""What a project may be called: a name that can be seen on one line and means nothing else where a project is named.

People type names; folders, hosts' records and bundles bring theirs, and anybody may have written those.
"""

from __future__ import annotations

import unicodedata

LONGEST = 100
NONE = "none"  # stands for the conversations that are in no project
_ROOM = 6  # for a number behind a name that is taken
_UNNAMED = "project"
_JOINERS = "\u200c\u200d"  # words and emoji are spelled with these
_UNSEEN = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))  # or turns the direction
_NOT_ALONE = frozenset(("Zs", "Mn", "Me", *_UNSEEN))  # what is unassigned here may be a letter in a newer Unicode


def spelled(name: str) -> str:
    """A name on one line, composed: what two are compared by, case aside."""
    return " ".join(unicodedata.normalize("NFC", name).split())


def fits(name: str) -> bool:
    """Whether a spelled name can be one."""
    return 1 <= len(name) <= LONGEST and not _means_else(name) and _is_seen(name) and not any(map(_hidden, name))


def proper(name: str) -> str:
    """A name that fits, as near as can be to one that nobody chose as such."""
    visible = "".join(" " if _hidden(character) else character for character in name)
    found = spelled(visible)[: LONGEST - _ROOM].strip()
    if not _is_seen(found):
        return _UNNAMED
    return f"{_UNNAMED} {found}"[: LONGEST - _ROOM] if _means_else(found) else found


def _means_else(name: str) -> bool:
    return name.startswith(("p_", "git:")) or name.casefold() in (".", NONE)


def _hidden(character: str) -> bool:
    return unicodedata.category(character) in _UNSEEN and character not in _JOINERS


def _is_seen(name: str) -> bool:
    return any(unicodedata.category(character) not in _NOT_ALONE for character in name)
