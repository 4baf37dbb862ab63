"""The redactor of one conversation: it numbers what ``engine`` finds and puts placeholders in its place.

A secret is remembered by its text only while the redactor lives; what may be stored is where each secret first stood. A
number that was given once to a place is given to it again, so newer rules add numbers and never change one.

Redaction is repeated until nothing more is found, because a placeholder can change what a rule sees; so redacting a
redacted text changes nothing. A strong value that was found once is then sought everywhere (``known``).
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from . import blobs, engine
from .known import Known
from .names import judge
from .values import PLACEHOLDER, is_public_id, is_reference, is_weak_secret, looks_random, looks_secret, unmarked
from .view import View

Found = tuple[int, int, str, str, str | None]
Cut = tuple[int, int, str]
ROUNDS = 6
WINDOW = 1 << 20
MARGIN = 1 << 14
NEAR = 1 << 11  # so far on both sides of what was replaced a text is read again; twice that is the margin then
DEPTH = 200
# Short strings in which nothing was found are remembered: types, names and paths come again and again.
SHORT, MOST_PLAIN = 200, 4096
_MIME_NAMES = ("mimeType", "mime_type", "media_type", "mediaType", "contentType", "content_type")
_MIME = frozenset(_MIME_NAMES)
_BLOB_KEYS = frozenset(("data", "blob", "bytes", "base64"))
_BLOB = re.compile(r"[A-Za-z0-9+/_\-\s]{64,}={0,2}")
_HEADERS = frozenset(("authorization", "proxy-authorization", "cookie", "set-cookie"))
_ENDS_JSON = frozenset("}] \t\r\n")
_PLAIN_KEYS = re.compile(r"(?i)(?:name|key|variable|env|parameter|header|field|option|id)")
_VALUE_KEYS = re.compile(
    r"(?i)(?:value|parametervalue|default|defaultvalue|content|secretvalue|secret_value|plaintext|stringvalue|val|data)"
)


class Redactor:
    """Redacts the strings of one conversation; the same secret gets the same placeholder in all of them."""

    def __init__(self, known: Mapping[str, int] | None = None) -> None:
        self._known = dict(known or {})
        self._numbers: dict[tuple[str, str], int] = {}
        self._last: dict[str, int] = {}
        for location, number in self._known.items():
            kind = location.rsplit(":", 1)[-1]
            self._last[kind] = max(self._last.get(kind, 0), number)
        self._counts: dict[str, int] = {}
        self._locations: dict[str, int] = {}
        self._values = Known()
        self._plain: set[str] = set()

    @property
    def counts(self) -> Mapping[str, int]:
        """How many redactions of each kind were made."""
        return self._counts

    @property
    def locations(self) -> Mapping[str, int]:
        """Where each secret first stood, and its number: this may be stored."""
        return self._locations

    def text(self, text: str, *, at: str = "") -> str:
        """The text with each secret replaced; ``at`` names the string in the location keys."""
        if engine.is_hopeless(text):
            return text
        if self._is_plain(text) and next(self._values.find(text), None) is None:
            return text
        cuts: list[Cut] = []
        areas, margin = _windows(len(text)), MARGIN
        for _ in range(ROUNDS):
            found = list(_found(text, areas, margin))
            if not found and len(self._values):
                found = [(s.start, s.end, text[s.start : s.end], s.kind, None) for s in self._values.find(text)]
            if not found:
                if not cuts:
                    self._keep_plain(text)
                break
            way = _Way(cuts)
            made, stood, text = self._replaced(text, found, way, at)
            cuts = _compose(cuts, made, way)
            areas, margin = _around(stood, len(text)), 2 * NEAR
        return text

    def _is_plain(self, text: str) -> bool:
        if text in self._plain:
            return True
        if not engine.is_plain(text):
            return False
        self._keep_plain(text)
        return True

    def _keep_plain(self, text: str) -> None:
        if len(text) <= SHORT and len(self._plain) < MOST_PLAIN:
            self._plain.add(text)

    def _replaced(self, text: str, found: Iterable[Found], way: "_Way", at: str) -> tuple[list[Cut], list[int], str]:
        """What was put where, in offsets of the text and of the result, and the result."""
        made: list[Cut] = []
        stood: list[int] = []
        parts: list[str] = []
        position = length = 0
        for start, end, secret, kind, note in found:
            put = note or self._placeholder(secret, kind, at, way(start))
            start, end = _around_mark(text, max(position, start), end)
            start = max(position, start)
            parts += text[position:start], put
            length += start - position
            stood.append(length)
            length += len(put)
            made.append((start, end, put))
            position = end
        parts.append(text[position:])
        return made, stood, "".join(parts)

    def tree(self, value: object, *, at: str = "") -> object:
        """The parsed JSON value with every string redacted; what a name says about its value is heeded."""
        return self._tree(value, at, "", 0)

    def _tree(self, value: object, at: str, name: str, depth: int) -> object:
        if isinstance(value, str):
            return self._string(value, at, name)
        if depth > DEPTH:
            return value if not isinstance(value, dict | list) else self.text(json.dumps(value), at=at)
        if isinstance(value, list):
            return [self._tree(item, f"{at}/{index}", name, depth + 1) for index, item in enumerate(value)]
        if isinstance(value, dict):
            return self._object(value, at, depth)
        if isinstance(value, int) and not isinstance(value, bool) and name:
            return self._number(value, at, name)
        return value

    def _object(self, value: dict[object, object], at: str, depth: int) -> dict[object, object]:
        mime = None
        if not _MIME.isdisjoint(value):
            mime = next((held for key in _MIME_NAMES if isinstance(held := value.get(key), str)), None)
        said = _said_by_pair(value) if len(value) > 1 else ""
        result: dict[object, object] = {}
        for key, item in value.items():
            name = key if isinstance(key, str) else ""
            if mime is not None and isinstance(item, str) and name in _BLOB_KEYS and _BLOB.fullmatch(item):
                result[self._key(key, at)] = blobs.note(mime, item)
                continue
            if said and name and _is_value_key(name) and isinstance(item, str | int):
                name = said
            new_key = key if name and len(name) < 16 else self._key(key, at)
            while new_key in result:
                new_key = f"{new_key}'"
            if item is None or item is True or item is False:
                result[new_key] = item
            elif isinstance(item, str):
                result[new_key] = self._string(item, f"{at}/{key}", name)
            else:
                result[new_key] = self._tree(item, f"{at}/{key}", name, depth + 1)
        return result

    def _key(self, key: object, at: str) -> object:
        """A name stays as it is unless it is itself a token."""
        if not isinstance(key, str) or len(key) < 16:
            return key
        is_token = _is_token(key) if len(key) <= SHORT else _holds_token(key)
        return self.text(key, at=f"{at}/key") if is_token else key

    def _string(self, value: str, at: str, name: str) -> str:
        if value[-1:] in _ENDS_JSON:
            value = self._json(value, at, name)
        said = judge(name) if name and value and len(name) <= 120 and len(value) <= 20000 else None
        open_to_it = said is not None and PLACEHOLDER.search(value) is None
        if said is not None and open_to_it and _by_name(value, said.kind, said.strength):
            lead = len(value) - len(value.lstrip())
            inner = value.strip()
            scheme = re.match(r"(?i)(?:bearer|basic|token|digest)\s+(?=\S{6})", inner)
            skip = scheme.end() if scheme else 0
            kind = _vendor_kind(inner[skip:]) or said.kind
            put = self._placeholder(inner[skip:], kind, at, lead + skip)
            return value[:lead] + inner[:skip] + put + value[lead + len(inner) :]
        if said is not None and not open_to_it:
            rest = unmarked(value)
            if rest != value and _by_name(rest, said.kind, said.strength):
                return self._glued(value, said.kind, at)
        if name and value and name[:1] in "aApPcCsS" and name.lower().replace("_", "-") in _HEADERS:
            prefix = f"{name}: "
            return self._with_prefix(prefix, value, at)
        return self.text(value, at=at)

    def _json(self, value: str, at: str, name: str) -> str:
        """A string that holds JSON is redacted as a tree; only then is its layout given up, if there was a secret."""
        held = value.strip()
        if held[:1] in "{[" and held[-1:] in "}]" and len(held) > 8 and '"' in held:
            parsed = _parsed(held)
            if parsed is not None:
                redacted = self._tree(parsed, at, name, 1)
                if redacted != parsed:
                    return _same_style(held, redacted)
        return value

    def _glued(self, value: str, kind: str, at: str) -> str:
        """The placeholders stay, what is glued to them goes."""
        parts: list[str] = []
        position = 0
        for held in [*PLACEHOLDER.finditer(value), None]:
            piece = value[position : held.start() if held else len(value)]
            secret = len(piece) >= 4 and any(map(str.isalnum, piece))
            parts.append(self._placeholder(piece, kind, at, position) if secret else piece)
            if held:
                parts.append(held.group())
                position = held.end()
        return "".join(parts)

    def _with_prefix(self, prefix: str, value: str, at: str) -> str:
        redacted = self.text(prefix + value, at=at)
        return redacted[len(prefix) :] if redacted.startswith(prefix) else self.text(value, at=at)

    def _number(self, value: int, at: str, name: str) -> object:
        said = judge(name) if len(name) <= 120 else None
        if said is not None and (
            (said.kind in ("password", "pin", "otp") and said.strength >= 2 and len(str(value)) >= 4)
            or (said.strength == 3 and len(str(value)) >= 8)
        ):
            return self._placeholder(str(value), said.kind, at, 0)
        return value

    def _placeholder(self, secret: str, kind: str, at: str, start: int) -> str:
        location = f"{at}:{start}:{kind}"
        same = (kind, secret.replace("\\", "").strip("\"'"))
        number = self._known.get(location)
        if number is not None:
            if self._numbers.get(same) != number:
                self._numbers[same] = number
                self._locations[location] = number
        elif same in self._numbers:
            number = self._numbers[same]
        else:
            number = self._last.get(kind, 0) + 1
            self._last[kind] = number
            self._numbers[same] = number
            self._locations[location] = number
        self._values.add(secret, kind)
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return f"[REDACTED:{kind}#{number}]"


@lru_cache(maxsize=4096)
def _is_plain_key(key: str) -> bool:
    return _PLAIN_KEYS.fullmatch(key) is not None


@lru_cache(maxsize=4096)
def _is_value_key(key: str) -> bool:
    return _VALUE_KEYS.fullmatch(key) is not None


def _holds_token(key: str) -> bool:
    return any(span.weight >= engine.VENDOR_WEIGHT for span, _ in engine.find(key))


@lru_cache(maxsize=4096)
def _is_token(key: str) -> bool:
    """The names in the objects of a log are the same again and again."""
    return _holds_token(key)


@lru_cache(maxsize=1024)
def _has_value_key(keys: tuple[object, ...]) -> bool:
    """The objects of a log have the same keys again and again."""
    return any(map(_is_value, keys))


def _is_value(key: object) -> bool:
    return isinstance(key, str) and _is_value_key(key)


def _said_by_pair(value: dict[object, object]) -> str:
    """The name in an object that holds a name and a value side by side; empty where it is none."""
    if not (_has_value_key(tuple(value)) if len(value) <= 40 else any(map(_is_value, value))):
        return ""
    for key, item in value.items():
        if isinstance(key, str) and isinstance(item, str) and len(item) < 80 and _is_plain_key(key):
            return item
    return ""


def _windows(length: int) -> list[tuple[int, int]]:
    """A long text is read window by window, so that it costs little more memory than itself and its result."""
    if length <= 2 * WINDOW:
        return [(0, length)]
    return [(start, min(start + WINDOW, length)) for start in range(0, length, WINDOW)]


def _around(stood: list[int], length: int) -> list[tuple[int, int]]:
    """Where a long text has to be read again: near what was replaced, for only there it reads differently."""
    if length <= 8 * NEAR:
        return _windows(length)
    areas: list[tuple[int, int]] = []
    for place in stood:
        low, high = max(0, place - NEAR), min(length, place + NEAR)
        if areas and low <= areas[-1][1] and high - areas[-1][0] <= WINDOW:
            areas[-1] = (areas[-1][0], high)
        else:
            areas.append((max(low, areas[-1][1]) if areas else low, high))
    return areas


def _found(text: str, areas: list[tuple[int, int]], margin: int) -> Iterator[Found]:
    """Start, end, secret, kind and note of all that begins in one of the areas; each is read with a margin on both sides."""
    done = 0
    for low, high in areas:
        if high <= done:
            continue
        base, behind = max(0, low - margin), margin
        while True:
            view = View(text[base : high + behind])
            found = engine.find(view.text, view.beyond)
            if high + behind >= len(text) or not found or found[-1][0].end < len(view.text):
                break
            behind *= 8  # what was found reaches the end of what was read: it may go on
        for span, note in found:
            start, end = view.original(span.start, span.end)
            if max(low, done) <= base + start < high:
                done = base + end
                yield base + start, done, view.text[span.start : span.end], span.kind, note


def _by_name(value: str, kind: str, strength: int) -> bool:
    value = value.strip()
    if is_reference(value, True):
        return False
    if kind in ("pin", "otp"):
        return (value.isdigit() and 4 <= len(value) <= 10) or looks_secret(value)
    if "-----" in value or "\n" in value.strip():
        return False
    if strength == 3:
        return is_weak_secret(value, True) and "://" not in value
    return (
        looks_secret(value) and not (kind == "session" and is_public_id(value))
        if strength == 2
        else looks_random(value)
    )


def _vendor_kind(value: str) -> str | None:
    for span, note in engine.find(value):
        if note is None and span.weight >= engine.VENDOR_WEIGHT and span.start == 0 and span.end == len(value):
            return span.kind
    return None


def _parsed(text: str) -> object:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _same_style(original: str, value: object) -> str:
    """JSON again, spaced as the original was."""
    indent = re.match(r"[{\[]\r?\n([ \t]+)", original)
    if indent is not None:
        return json.dumps(value, ensure_ascii=original.isascii(), indent=indent.group(1))
    tight = re.search(r"\"[:,] ", original) is None
    return json.dumps(value, ensure_ascii=original.isascii(), separators=(",", ":") if tight else (", ", ": "))


def _around_mark(text: str, start: int, end: int) -> tuple[int, int]:
    """A mark that somebody else began around the secret goes with it, so that no placeholder stands in another."""
    while True:
        mark = text.rfind("[REDACTED:", max(0, start - 60), start)
        if mark < 0 or "]" in text[mark:start] or "\n" in text[mark:start]:
            return start, end
        start, end = mark, end + (text[end : end + 1] == "]")


def _compose(cuts: list[Cut], made: list[Cut], way: "_Way") -> list[Cut]:
    """The cuts of all rounds so far, in order, in offsets of the original; a cut that a later one took in is gone."""
    fresh = [(way(start), way(end), put) for start, end, put in made]
    kept: list[Cut] = []
    index = 0
    for cut in cuts:
        while index < len(fresh) and fresh[index][1] < cut[1]:
            index += 1
        if index == len(fresh) or fresh[index][0] > cut[0]:
            kept.append(cut)
    return sorted(kept + fresh)


class _Way:
    """From an offset in a text that was cut to the offset in the original."""

    def __init__(self, cuts: list[Cut]) -> None:
        self._starts: list[int] = []
        self._shifts: list[int] = []
        shift = 0
        for start, end, put in cuts:
            self._starts.append(start - shift + len(put))
            shift += end - start - len(put)
            self._shifts.append(shift)

    def __call__(self, offset: int) -> int:
        index = bisect_right(self._starts, offset) - 1
        return offset + (self._shifts[index] if index >= 0 else 0)
