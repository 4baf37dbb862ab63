"""Joining parts: nothing that the parts do not cite, within the limits."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.offline import asking

_TURNS = [
    "The outbox worker delivers webhooks twice because the claim takes no lock.",
    "Decided: a lease of 120 s on each outbox claim.",
    "Terraform wants to destroy the node pool, the workspace is wrong.",
    "Failed: terraform state mv -state-out lost the lock.",
    "幂等键改为保留 14 天,压测通过了。",
    "Open: who keeps the unseal shares of the vault?",
    "12 passed in 3s",
    "ok",
]


@given(st.lists(st.lists(st.sampled_from(_TURNS), max_size=6), max_size=9), st.booleans())
@settings(max_examples=80)
def test_a_reduction_cites_only_what_its_parts_cite(conversations: list[list[str]], top: bool) -> None:
    parts = [asking.analyse(asking.entries(*turns)) for turns in conversations]
    reply = asking.reduce(parts, top)
    assert _citations(reply) <= {one for part in parts for one in _citations(part)}
    said = " ".join(facet["description"] for part in parts for facet in part["facets"])
    for facet in reply["facets"]:
        assert all(quote in said for quote in facet["description"].split(" … "))
    if any(part["facets"] for part in parts):
        assert reply["facets"]


def test_facets_of_one_subject_become_one() -> None:
    lease = "The outbox lease of 120 s is renewed by the webhook worker; outbox claims hold the lease."
    terraform = "Terraform state lives in one directory per layer; terraform workspaces were dropped."
    parts = [asking.analyse(asking.entries(lease, "Merged.")), asking.analyse(asking.entries(terraform, "Done."))]
    again = asking.analyse(asking.entries(lease + " Verified on staging.", "Good."))
    reply = asking.reduce([*parts, again])
    assert len(reply["facets"]) == 2


def test_many_parts_fit() -> None:
    parts = [asking.analyse(asking.entries(*(f"{turn} Case {n}." for turn in _TURNS))) for n in range(40)]
    reply = asking.reduce(parts)
    assert 1 <= len(reply["facets"]) <= 5


def test_no_parts() -> None:
    assert asking.reduce([])["facets"] == []


def _citations(reply: dict[str, Any]) -> set[tuple[str, str, str]]:
    found = {("", item["entry_id"], item["quote"]) for facet in reply["facets"] for item in facet["evidence"]}
    claims = {
        (item["statement"] + item["status"], item["entry_id"], item["quote"])
        for facet in reply["facets"]
        for item in facet["findings"]
    }
    return found | claims
