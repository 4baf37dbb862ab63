"""Who a model string speaks of, without asking litellm: provider, endpoint, and whether that is this machine.

The endpoint that a consent and a dry run name is the API base where one is set, else the provider's name.
"""

from __future__ import annotations

import ipaddress
from urllib.parse import urlsplit

from recall.settings import BARE_NAMES, HOST


def provider_of(model: str) -> str:
    """The provider's name in a litellm model string (`provider/model`)."""
    provider, slash, _ = model.partition("/")
    if slash or model == HOST:
        return provider
    return next((name for prefix, name in BARE_NAMES if model.startswith(prefix)), "openai")


def endpoint_of(model: str, api_base: str | None) -> str:
    """What is named when the user is asked: the API base, or the provider.

    Of the base, what may be a secret (user, password, query) and the last slash are left out: it is shown and stored.
    """
    if not api_base or model == HOST:
        return provider_of(model)
    host = host_of(api_base)
    if host is None:
        return api_base.rstrip("/")  # no URL that can be taken apart safely; nothing takes it for this machine
    parts = urlsplit(api_base)
    name = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port is not None else ""
    return f"{parts.scheme}://{name}{port}{parts.path}".rstrip("/")


def host_of(endpoint: str) -> str | None:
    """The host in an endpoint that is a URL, in lower case; None where it is none."""
    if "://" not in endpoint or "\\" in endpoint:  # parsers disagree about backslashes: never take one for local
        return None
    try:
        parts = urlsplit(endpoint)
        return parts.hostname if parts.port is None or parts.port >= 0 else None  # reading a bad port raises
    except ValueError:
        return None


def is_loopback(endpoint: str) -> bool:
    """Whether what is sent to the endpoint stays on this machine: 127.0.0.0/8, ::1 or localhost."""
    host = host_of(endpoint)
    if host is None:
        return False
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
