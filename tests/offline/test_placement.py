"""Placement: the right topic on a page, what was carried, and new topics where nothing agrees."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from recall.models.request import FacetCard
from recall.types import TopicCard
from tests.offline import asking
from tests.offline.asking import card, place

OUTBOX = card(
    "t_outbox",
    "outbox worker · webhook · lease",
    "Webhooks were delivered twice because the outbox claim took no lock.",
    *("claim_batch", "SKIP LOCKED", "webhook duplicates", "lease renewal"),
)
TERRAFORM = card(
    "t_terraform",
    "terraform workspaces · state lock",
    "Terraform state split into one directory per layer.",
    *("force-unlock", "terraform apply", "workspace", "envs/staging"),
)
SPOOL = card("t_spool", "spool · fsync · 落盘", "队列满了写磁盘 spool。", "磁盘缓冲", "fsync_interval_ms", "分段")
MORE_OUTBOX = FacetCard(
    "outbox lease · webhook order",
    "The outbox worker keeps the order of webhooks per account while it holds the lease.",
    ("claim_batch", "lease", "webhook", "claim_mode"),
)
VAULT = FacetCard("vault unseal · key shares", "Who keeps the unseal shares?", ("external secrets", "KMS"))


def test_the_right_topic_of_a_page() -> None:
    answer = place([MORE_OUTBOX], [TERRAFORM, OUTBOX, SPOOL])[0]
    assert answer["topic_id"] == "t_outbox"
    assert answer["draft"] is None
    assert "webhook" in answer["reason"]


def test_chinese_finds_its_topic() -> None:
    facet = FacetCard("spool 加密 · 落盘", "spool 明文落盘,磁盘缓冲是否加密。", ("磁盘缓冲", "明文日志"))
    assert place([facet], [TERRAFORM, OUTBOX, SPOOL])[0]["topic_id"] == "t_spool"


def test_no_match_is_a_new_topic() -> None:
    answer = place([VAULT], [TERRAFORM, OUTBOX, SPOOL])[0]
    assert answer["topic_id"] is None
    assert answer["draft"] == 1


def test_words_of_every_program_join_no_subjects() -> None:
    evaluations = card(
        "t_seeds",
        "scenario seeds · evaluations",
        "An agent explores the scenarios; where the seeds came from nobody wrote down.",
        *("exploratory seeds", "npm install failed", "container image", "charter", "agent messages"),
    )
    release = FacetCard(
        "exec format · staging · rollout",
        "The api container fails on staging, its image was made on a laptop.",
        ("--platform linux/amd64", "container image", "failed build", "rollout undo"),
    )
    assert place([release], [evaluations, TERRAFORM, SPOOL])[0]["topic_id"] is None


def test_an_empty_catalogue() -> None:
    answers = place([MORE_OUTBOX, VAULT])
    assert [answer["draft"] for answer in answers] == [1, 2]


def test_facets_that_agree_share_a_draft() -> None:
    answers = place([MORE_OUTBOX, FacetCard("webhook duplicates · outbox", "claims", ("lease", "claim_batch")), VAULT])
    assert answers[0]["draft"] == answers[1]["draft"] != answers[2]["draft"]


def test_a_carried_candidate_wins_over_a_page_of_others() -> None:
    first = place([MORE_OUTBOX, VAULT], [OUTBOX], last=False)
    assert first[0]["candidates"] == ["t_outbox"]
    assert first[1]["candidates"] == []
    answer = place([MORE_OUTBOX, VAULT], [TERRAFORM, SPOOL], [[OUTBOX], []])[0]
    assert answer["topic_id"] == "t_outbox"


def test_an_equal_title_proves_nothing() -> None:
    namesake = card(
        "t_other",
        "release notes",
        "Kitchen refurbishment: tiles, plumbing, an induction hob and the carpenter's offer.",
        *("tiles", "plumber", "induction hob", "carpenter", "worktop", "extractor"),
    )
    facet = FacetCard(
        "release notes",
        "The changelog of driftlog 0.4.0 explains why the reader block was replaced by a disk spool.",
        ("driftlog", "changelog", "disk spool", "reader block", "0.4.0", "aggregator outage"),
    )
    right = card(
        "t_right",
        "driftlog spool",
        "The disk spool of driftlog replaced the reader block after the aggregator outage.",
        *("driftlog", "disk spool", "reader block", "aggregator"),
    )
    assert place([facet], [namesake, right])[0]["topic_id"] == "t_right"


def test_pages_in_any_order_give_the_same_topic() -> None:
    cards = [OUTBOX, TERRAFORM, SPOOL]
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        carried: list[TopicCard] = []
        for number in order[:-1]:
            names = place([MORE_OUTBOX], [cards[number]], [carried], last=False)[0]["candidates"]
            carried = [one for one in cards if one.topic_id in names]
        assert place([MORE_OUTBOX], [cards[order[-1]]], [carried])[0]["topic_id"] == "t_outbox"


_WORDS = st.lists(st.sampled_from("outbox lease 幂等键 terraform state.lock E0499 vault, · the 的".split()), max_size=8)
_FACETS = st.lists(
    st.builds(
        FacetCard,
        title=_WORDS.map(" ".join),
        description=st.one_of(_WORDS.map(" ".join), st.text(max_size=40)),
        aliases=st.lists(_WORDS.map(" ".join), max_size=4).map(tuple),
    ),
    min_size=1,
    max_size=5,
)
_CARDS = st.lists(
    st.builds(
        lambda name, words, text, members: card(f"t_{name}", " ".join(words), text, *words, members=members),
        st.integers(0, 99),
        _WORDS,
        st.text(max_size=40),
        st.integers(1, 300),
    ),
    max_size=9,
    unique_by=lambda one: one.topic_id,
)


@given(_FACETS, _CARDS, st.data())
@settings(max_examples=120)
def test_any_cards_give_a_valid_answer(facets: list[FacetCard], cards: list[TopicCard], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(cards)))
    carried = [cards[:cut][:3] for _ in facets]
    last = data.draw(st.booleans())
    known = {one.topic_id for one in cards}
    for answer in asking.place(facets, cards[cut:], carried, last):
        assert set(answer["candidates"]) <= known
        if last:
            assert (answer["topic_id"] is None) != (answer["draft"] is None)
            assert answer["topic_id"] is None or answer["topic_id"] in known
            assert answer["topic_id"] not in answer["candidates"]
