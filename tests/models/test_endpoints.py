from __future__ import annotations

import pytest

from recall.models.endpoints import endpoint_of, is_loopback, provider_of


@pytest.mark.parametrize(
    ("endpoint", "local"),
    [
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.8.9.1", True),
        ("http://[::1]:11434", True),
        ("HTTP://LocalHost:1/v1", True),
        ("https://localhost", True),
        ("http://0.0.0.0:8000", False),
        ("http://192.168.1.5:8000", False),
        ("http://localhost.example.com", False),
        ("http://127.0.0.1.example.com", False),
        ("http://127.0.0.1@example.com/v1", False),
        ("http://example.com\\@127.0.0.1/v1", False),
        ("http://127.0.0.1\\@example.com/v1", False),
        ("http://example.com#@127.0.0.1", False),
        ("http://[bad", False),
        ("127.0.0.1:8000", False),
        ("localhost", False),
        ("openai", False),
        ("", False),
    ],
)
def test_what_stays_on_this_machine(endpoint: str, local: bool) -> None:
    assert is_loopback(endpoint) is local


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("openai/gpt-4.1", "openai"),
        ("gpt-4.1-mini", "openai"),
        ("claude-sonnet-4-5", "anthropic"),
        ("openrouter/openai/gpt-4o", "openrouter"),
        ("whatever", "openai"),
    ],
)
def test_the_provider_in_a_model_string(model: str, provider: str) -> None:
    assert provider_of(model) == provider


def test_the_endpoint_is_the_base_or_the_provider() -> None:
    assert endpoint_of("openai/x", "http://127.0.0.1:1/v1/") == "http://127.0.0.1:1/v1"
    assert endpoint_of("openai/x", None) == "openai"


def test_no_secret_of_the_base_is_in_the_endpoint() -> None:
    assert endpoint_of("openai/x", "https://me:word@host:8/v1?key=word#x") == "https://host:8/v1"
    assert endpoint_of("openai/x", "http://me:word@[::1]:8/v1/") == "http://[::1]:8/v1"
    assert endpoint_of("openai/x", "http://host:notaport/") == "http://host:notaport"
    assert not is_loopback(endpoint_of("openai/x", "http://127.0.0.1@example.com/v1"))
    assert not is_loopback(endpoint_of("openai/x", "http://example.com\\@127.0.0.1/v1"))
    assert not is_loopback(endpoint_of("openai/x", "http://example.com#@127.0.0.1/v1"))
    assert not is_loopback(endpoint_of("openai/x", "http://example.com?@127.0.0.1/v1"))
