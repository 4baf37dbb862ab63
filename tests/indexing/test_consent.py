"""Nothing goes to an endpoint that is not on this machine before the user said yes to exactly that."""

from __future__ import annotations

import socket

import pytest

from tests.indexing.product import Product, short

ELSEWHERE = "http://192.0.2.1:9/v1"


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Every address that a socket was to be connected to; none is let through but this machine."""
    tried: list[object] = []
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1"):
            tried.append(address[0])
            raise ConnectionRefusedError(111, "refused by the test")
        connect(self, address)  # type: ignore[arg-type]

    def guarded_ex(self: socket.socket, address: object) -> int:
        tried.append(address)
        return 111

    def resolved(host: object, *rest: object, **named: object) -> object:
        if host in ("127.0.0.1", "localhost", "::1"):
            return getaddrinfo(host, *rest, **named)  # type: ignore[arg-type]
        tried.append(host)
        raise socket.gaierror(-2, "refused by the test")

    getaddrinfo = socket.getaddrinfo
    monkeypatch.setattr(socket.socket, "connect", guarded)
    monkeypatch.setattr(socket.socket, "connect_ex", guarded_ex)
    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    return tried


def test_without_a_yes_nothing_is_sent(product: Product, refused: list[object]) -> None:
    product.set(api_base=ELSEWHERE)
    source = product.add(short("a101", "mill"), "one")

    one, batch = product.run("index", source), product.run("index-all")

    assert (one.code, one.error["code"]) == (3, "consent_required")
    assert one.error["data"]["endpoint"] == ELSEWHERE
    assert one.error["data"]["token"]
    assert (batch.code, batch.answer["aborted"]["code"]) == (3, "consent_required")
    assert [entry["counts_as_attempt"] for entry in batch.failed] == [False]
    assert (product.ledger(), refused) == ([], [])
    assert product.done("status")["queue"]["failed"][0]["attempts"] == 0


def test_what_is_indexed_does_not_wait_for_a_yes(product: Product, refused: list[object]) -> None:
    product.set(model="offline")
    sources = [product.add(short(f"a11{place}", "mill"), f"s{place}") for place in range(2)]
    product.done("index-all")
    before = product.done("status")["coverage"]
    product.set(model="openai/local", api_base=ELSEWHERE)

    runs = [product.run("index-all"), product.run("index", sources[0])]

    assert [ran.code for ran in runs] == [3, 3]
    for model in ("openai/local", "offline"):
        product.set(model=model)
        status = product.done("status")
        assert (status["queue"], status["coverage"]) == ({"waiting": 0, "failed": []}, before)
    new = product.add(short("a112", "mill"), "s2")
    product.set(model="openai/local")
    assert product.run("index", new).code == 3
    product.done("rebuild")
    product.run("index-all")
    assert product.done("status")["queue"]["waiting"] == 3  # a rebuild was asked for
    assert refused == []


def test_the_question_says_what_goes_there(product: Product) -> None:
    product.set(api_base=ELSEWHERE)

    shown = product.done("consent", "show")

    assert (shown["needed"], shown["granted"], shown["endpoint"]) == (True, False, ELSEWHERE)
    for words in (ELSEWHERE, "openai/local", "whole extracted text", "No pattern finds every secret", "originals"):
        assert words in shown["question"]
    assert not product.database.exists()


def test_a_yes_lets_it_go_and_taking_it_back_stops_it(product: Product, refused: list[object]) -> None:
    product.set(api_base=ELSEWHERE)
    source = product.add(short("a102", "mill"), "one")

    assert product.done("consent", "grant")["granted"]
    tried = product.run("index", source)
    assert (tried.code, tried.error["code"]) == (1, "model_unavailable")
    assert refused
    charged = len(product.ledger())
    assert charged == 3

    assert product.done("consent", "revoke")["granted"] is False
    refused.clear()
    again = product.run("index", source)
    assert (again.code, again.error["code"]) == (3, "consent_required")
    assert (refused, len(product.ledger())) == ([], charged)


@pytest.mark.parametrize(
    ("name", "value"),
    [("api_base", "http://192.0.2.2:9/v1"), ("model", "openai/other"), ("profile", "second")],
)
def test_anything_else_asks_again(product: Product, refused: list[object], name: str, value: str) -> None:
    product.set(api_base=ELSEWHERE)
    product.done("consent", "grant")
    source = product.add(short("a103", "mill"), "one")
    product.set(**{name: value})

    ran = product.run("index", source)

    assert (ran.code, ran.error["code"]) in [(3, "consent_required"), (1, "not_authorised")]
    assert (refused, product.ledger()) == ([], [])


@pytest.mark.parametrize(
    "address", ["http://localhost.example.com/v1", "http://127.0.0.1.example.com/v1", "http://127.0.0.1@192.0.2.1/v1"]
)
def test_what_only_looks_like_this_machine_asks(product: Product, refused: list[object], address: str) -> None:
    product.set(api_base=address)

    ran = product.run("index", product.add(short("a104", "mill"), "one"))

    assert (ran.code, ran.error["code"]) == (3, "consent_required")
    assert refused == []


def test_a_cached_reply_needs_no_yes_but_nothing_new_goes(product: Product, refused: list[object]) -> None:
    """A dry run asks nobody, so it needs no yes either."""
    product.set(api_base=ELSEWHERE)
    source = product.add(short("a105", "mill"), "one")

    dry = product.done("index", source, "--dry-run")

    assert dry["would_send"]["endpoint"] == ELSEWHERE
    assert dry["would_send"]["calls"] == 1
    assert (refused, product.database.exists()) == ([], False)


@pytest.mark.filterwarnings("ignore:.*on TypedDict class")
def test_without_a_key_nothing_is_sent(
    product: Product, refused: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "HISTORY_RECALL_API_BASE"):
        monkeypatch.delenv(name)
    source = product.add(short("a106", "mill"), "one")
    for model in ("openai/gpt-4.1-mini", "anthropic/claude-3-5-haiku-latest", "gpt-4.1-mini", "mistral/mistral-small"):
        product.set(model=model)
        product.done("consent", "grant")

        ran = product.run("index", source)

        assert (ran.code, ran.error["code"]) == (1, "auth_unavailable"), ran.answer
        assert "_API_KEY" in ran.error["hint"]
    assert (refused, product.ledger()) == ([], [])


def test_a_name_without_a_provider_is_refused_before_anything_is_sent(product: Product, refused: list[object]) -> None:
    product.unset("api_base")
    source = product.add(short("a107", "mill"), "one")
    product.set(model="some-model-nobody-knows")

    for words in (("consent", "grant"), ("index", source)):
        ran = product.run(*words)
        assert (ran.code, ran.error["code"]) == (2, "usage")

    assert refused == []


def test_offline_needs_no_yes(product: Product, refused: list[object]) -> None:
    product.set(model="offline")
    product.done("index", product.add(short("a108", "mill"), "one"))

    ran = product.run("consent", "grant")

    assert (ran.code, ran.error["code"]) == (2, "usage")
    assert refused == []
