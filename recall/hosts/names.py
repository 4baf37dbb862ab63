"""The names of the hosts, in the order in which they are shown: for whoever needs no more than that of them."""

from __future__ import annotations

HOSTS = ("omp", "pi", "claude-code", "codex", "gemini", "hermes", "opencode")
