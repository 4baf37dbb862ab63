"""What a repair run may do at most: one frozen value, checked before each step. Lengths are characters."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one run. Requests have the caps of the whole run besides (`recall.index.ledger`)."""

    # What is looked at and changed.
    audited: int = 8  # facets of history
    neighbours: int = 3  # topics beside an assigned one, by the words they share
    drafts: int = 5
    redefinitions: int = 5
    moves: int = 8  # of facets of history
    incoming_moves: int = 5
    # The loop.
    turns: int = 40
    calls_a_turn: int = 32
    same_call: int = 3  # the so manieth identical call in one state ends the run
    malformed: int = 8  # calls that are no call of a tool
    wordy: int = 2  # turns in a row without a call
    output_tokens: int = 4096
    # Pages.
    topics_page: int = 50
    members_page: int = 64
    least_page: int = 1000
    usual_page: int = 6000
    most_page: int = 12_000
    note: int = 600
    # Share of the model's room that the opening message may take.
    opening: float = 0.5


LIMITS = Limits()
