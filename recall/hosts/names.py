"""The names of the hosts, in the order in which they are shown: for whoever needs no more than that of them."""

from __future__ import annotations

HOSTS = ("omp", "pi", "claude-code", "codex", "gemini", "hermes", "opencode")

_LEAST_OF_ID = 8


def ends_in(name: str, identity: str) -> bool:
    """Whether the name of a log without its ending is this, or ends in this id: a word that a name ends in is none."""
    if name == identity or (identity and name.endswith(f"_{identity}")):
        return True
    is_id = len(identity) >= _LEAST_OF_ID and any(map(str.isdigit, identity))
    return is_id and name.endswith(f"-{identity}")
