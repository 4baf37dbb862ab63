"""Redaction: what is secret in the text of a conversation, and the placeholder that takes its place.

Rules are data. ``rules_structure`` says how a value follows a name that says secret; ``rules_context`` and
``rules_commands`` know headers, addresses, files and command lines; ``rules_vendor`` and ``rules_vendor_more`` the forms
of issued tokens. ``names`` and ``values`` judge what stands on both sides, ``proofs`` how much is asked of it where.
``engine`` finds, ``redactor`` numbers and replaces. Nothing else in the program decides what is secret.

The rules are compiled when something is redacted for the first time: a search that shows text of the present rules
needs none of them.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .redactor import Redactor

RULES_VERSION = 5

__all__ = ["RULES_VERSION", "Redactor", "redact_text"]


def redact_text(text: str) -> str:
    """The text with every secret replaced by a placeholder such as ``[REDACTED:github-token#1]``."""
    from .redactor import Redactor

    return Redactor().text(text)


def __getattr__(name: str) -> object:
    if name == "Redactor":
        from .redactor import Redactor

        return Redactor
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
