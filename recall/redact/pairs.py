"""A user and a password, joined by nothing but a colon: in front of a host without a scheme, and in a file of digests."""

import re
from collections.abc import Iterator

from .rule import Span
from .values import is_public_id, is_reference, looks_random

WEIGHT = 30
SHORTEST = 9
_LONGEST = 130
_LOGIN = re.compile(r"(?<![\w/.:@\-+%])[A-Za-z_][\w.\-]{0,40}:(?P<v>[^\s:/@\"'`<>|\\(){}\[\],;]{5,80})$")
# An address in numbers, or a name with a port.
_MACHINE = re.compile(
    r"(?:\d{1,3}\.){3}\d{1,3}(?![\w.])|\[[0-9a-fA-F:]{3,40}\]|[A-Za-z][\w.\-]{0,100}:\d{2,5}(?![\w.])"
)
_CLIENT = re.compile(
    r"(?i)(?:ssh|scp|sftp|ftp|rsync|telnet|connect\w*|curl|wget|mysql\w*|psql|mongo\w*|redis|smtp|imap|login|proxy)[\s(=\"']{1,3}(?:-\w+\s)?[\"']?$"
)
# What stands before a colon and a mail address.
_FIELD = re.compile(
    r"(?i)(?:to|from|cc|bcc|mail\w*|e-?mail|reply-to|sender|author|owner|contact|user\w*|id|name|login|sips?|xmpp|acct|skype|jid|im|by|npm|pnpm|"
    r"yarn|docker|image|git\w*|pip|pypi|gem|cargo|go|python|node|jsr|file|link|workspace|portal|patch|catalog|alias|tag|v)\w{0,3}:"
)
_SIGN = re.compile(r"[!#$%^&*+=?~]")
_HOST = re.compile(r"[A-Za-z0-9\[][\w.\-:\]]*")
DIGEST = re.compile(r":[0-9a-f]{32}(?![\w:.\-/])")
_REALM = re.compile(r"(?:^|[\s\"'`>])[A-Za-z_][\w.@\-]{0,60}:(?P<realm>[A-Za-z][^:\n\"'`{}\[\]=/\\]{0,60})$")
_NO_REALM = re.compile(
    r"(?i)(?:md5|sha\d*|etag|hash|digest|id|checksum|trace|span|latest|v?\d[\w.\-]*)(?:sum)?|.*\s\s.*"
)


def find(text: str) -> Iterator[Span]:
    at = text.find("@")
    while at >= 0:
        if text.rfind(":", max(0, at - 81), at) >= 0 and _HOST.match(text, at + 1) is not None:
            before = text[max(0, at - _LONGEST) : at]
            login = _LOGIN.search(before)
            if login is not None and (_strong(login["v"]) or _for_a_host(text, at, before, login)):
                yield Span(at - len(login["v"]), at, "url-password", WEIGHT)
        at = text.find("@", at + 1)
    if len(text) < 36:
        return
    for digest in DIGEST.finditer(text):
        low = max(0, digest.start() - _LONGEST)
        low = max(low, text.rfind("\n", low, digest.start()) + 1)
        realm = _REALM.search(text[low : digest.start()])
        if realm is not None and _NO_REALM.fullmatch(realm["realm"]) is None and not is_public_id(realm["realm"]):
            yield Span(digest.start() + 1, digest.end(), "password-hash", WEIGHT)


def _strong(value: str) -> bool:
    return (
        len(value) >= 8
        and looks_random(value)
        and value.lower() != value
        and value.upper() != value
        and not is_reference(value, False)
    )


def _for_a_host(text: str, at: int, before: str, login: re.Match[str]) -> bool:
    """A weaker password, where what follows is plainly a machine: an address, a port, or a client stands in front."""
    value = login["v"]
    if is_reference(value, False) or is_public_id(value) or not any(map(str.isalpha, value)):
        return False
    if _FIELD.match(before, login.start()) is not None:
        return False
    signed = _SIGN.search(value) is not None
    numbered = any(map(str.isdigit, value))
    if _MACHINE.match(text, at + 1) is not None:
        return (signed or numbered) and re.fullmatch(r"[\d.\-]+[a-z]*", value) is None
    called = _CLIENT.search(before, 0, login.start()) is not None
    return (called and numbered) or (signed and numbered and len(value) >= 6)
