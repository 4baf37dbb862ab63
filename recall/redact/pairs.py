"""A user and a password, joined by nothing but a colon: in front of a host without a scheme, and in a file of digests."""

import re
from collections.abc import Iterator

from .rule import Span
from .values import is_public_id, is_reference, looks_random

WEIGHT = 30
SHORTEST = 11
_LONGEST = 130
_LOGIN = re.compile(r"(?<![\w/.:@\-+%])[A-Za-z_][\w.\-]{0,40}:(?P<v>[^\s:/@\"'`<>|\\(){}\[\],;]{8,80})$")
_HOST = re.compile(r"[A-Za-z0-9\[][\w.\-:\]]*")
_DIGEST = re.compile(r":[0-9a-f]{32}(?![\w:.\-/])")
_REALM = re.compile(r"(?:^|[\s\"'`>])[A-Za-z_][\w.@\-]{0,60}:(?P<realm>[A-Za-z][^:\n\"'`{}\[\]=/\\]{0,60})$")
_NO_REALM = re.compile(
    r"(?i)(?:md5|sha\d*|etag|hash|digest|id|checksum|trace|span|latest|v?\d[\w.\-]*)(?:sum)?|.*\s\s.*"
)


def find(text: str) -> Iterator[Span]:
    at = text.find("@")
    while at >= 0:
        if text.rfind(":", max(0, at - 81), at) >= 0 and _HOST.match(text, at + 1) is not None:
            login = _LOGIN.search(text[max(0, at - _LONGEST) : at])
            if login is not None and _strong(login["v"]):
                yield Span(at - len(login["v"]), at, "url-password", WEIGHT)
        at = text.find("@", at + 1)
    if len(text) < 36:
        return
    for digest in _DIGEST.finditer(text):
        low = max(0, digest.start() - _LONGEST)
        low = max(low, text.rfind("\n", low, digest.start()) + 1)
        realm = _REALM.search(text[low : digest.start()])
        if realm is not None and _NO_REALM.fullmatch(realm["realm"]) is None and not is_public_id(realm["realm"]):
            yield Span(digest.start() + 1, digest.end(), "password-hash", WEIGHT)


def _strong(value: str) -> bool:
    return looks_random(value) and value.lower() != value and value.upper() != value and not is_reference(value, False)
