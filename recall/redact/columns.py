"""Secrets by their column or their block: tables with a header, INSERT statements, environment blocks, Secret manifests."""

import re
from collections.abc import Iterator

from .lines import at_lines, lines
from .names import judge
from .rule import Span
from .values import entropy, has_digit, has_letter, is_public_id, is_reference, is_weak_secret, looks_secret

WEIGHT = 15
WORDS = frozenset(("insert", "kind", "env"))  # one is in every text that is worth a closer look
_SHORT_NAME = re.compile(r"[\w.\-]+(?: [\w.\-]+){0,2}")
_HEADING = re.compile(r"[\w .\-\"'`*/#|│>\t,;\r]{3,600}\n")
_USERS = frozenset("user username login name account email host id".split())
_ALIGNED = re.compile(r"\S+(?: \S+)*")
_DASHES = re.compile(r"[ \t]*-{2,}(?:[ \t+]+-{2,}){1,20}[ \t]*\r?\n")
_CELL_NAME = re.compile(r"[\w .\-\"'`*/#]{1,40}")
_INSERT = re.compile(
    r"(?i)insert\s+(?:ignore\s+|or\s+\w+\s+)?into\s+[\w.\"`\[\]]{1,80}\s*\((?P<names>[^()]{1,600})\)\s*values\s*(?P<rows>(?:\([^()\n]{1,1000}\)[,\s]{0,10}){1,50})"
)
_ROW = re.compile(r"\(([^()\n]{1,1000})\)")
_CELL = re.compile(r"\s*('(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|[^,]*)\s*(?:,|$)")
_ANY_ENV_LINE = at_lines(r"[ \t>+]{0,8}(?:export\s)?[A-Z][A-Z0-9_]*=")
_ENV_LINE = at_lines(
    r"[ \t>+]{0,8}(?:\d{1,6}[\t:]\s?)?(?:export\s|set\s|declare -x\s)?(?P<name>[A-Z][A-Z0-9_]{2,60})=[\"']?(?P<v>[^\s\"'#]{12,2000})[\"']?[ \t]*\r?$"
)
_ENV_SIGNS = (".env", "printenv", "$ env", "env_file", "dotenv")
_OPTIONS = re.compile(r"(?:(?:^|[,;])[a-z][a-z_]{1,40}[:=](?:\d{1,9}|true|false|on|off|yes|no)){1,20}")
_PLAIN_NAME = re.compile(
    r"(?i)(?:^|_)(?:commit|sha|sha1|sha256|hash|rev|ref|revision|digest|checksum|etag|version|uuid|guid|path|dir|url|uri|host|hostname|image|build|run|trace|span|request|home|lang|shell|term|user|pwd|date|time|tag|branch|arn|region|name|email|public|addr|address|bucket|model|file|integrity|fingerprint)(?:_|$|\d)"
)
_MANIFEST = re.compile(r"(?m)^([ \t>]*)kind:\s*[\"']?(?:Secret|SealedSecret)[\"']?\s*$")
_JSON_KIND = re.compile(r"[\"']kind\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"'](?:Secret|SealedSecret)\\{0,7}[\"']")
_JSON_DATA = re.compile(r"[\"'](?:data|stringData)\\{0,7}[\"']\s{0,4}:\s{0,4}\{(?P<b>[^{}]{1,20000})\}")
_JSON_ENTRY = re.compile(r"\\{0,7}[\"'][\w.\-]{1,80}\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"'](?P<v>[^\"'\\\s]{3,8000})")
_DATA = re.compile(r"(?m)^([ \t]*)(?:data|stringData):[ \t]*\r?$")
_ENTRY = re.compile(
    r"[ \t]+[\"']?[\w.\-]{1,80}[\"']?:[ \t]*[\"']?(?P<v>[^\s\"'#|>][^\s\"'#]*)[\"']?[ \t]*(?:#[^\n]*)?\r?$"
)
_RULE = re.compile(r"[\s>|│+:\-─┼=]{3,}")


def find(text: str, lower: str, hits: list[tuple[int, int]], words: set[str]) -> Iterator[Span]:
    if "insert" in words:
        yield from _insert(text, lower)
    if "kind" in words and "secret" in lower:
        if "kind:" in lower:
            yield from _manifest(text)
        if '"kind' in lower or "'kind" in lower:
            yield from _json_manifest(text)
    if "env" in words and any(sign in lower for sign in _ENV_SIGNS):
        yield from _environment(text)
    if hits:
        yield from _table(text, hits)


def _table(text: str, hits: list[tuple[int, int]]) -> Iterator[Span]:
    """Cells below a header line that names a secret; only lines with a secret word in them are tried as a header."""
    done = 0
    for start, _end in hits:
        if start < done:
            continue
        top = text.rfind("\n", max(0, start - 400), start) + 1
        done = text.find("\n", start, start + 400) + 1 or start + 400
        if _HEADING.match(text, top) is None:
            continue
        stop = text.find("\n", top, top + 600)
        heading = text[top : max(stop, top)]
        mark = next((sign for sign in "|│\t,;" if sign in heading), None)
        if mark is None and stop >= 0:
            yield from _aligned(text, heading, stop + 1)
        if mark is None or stop < 0:
            continue
        names = [cell.strip(" \"'`*") for cell in heading.strip("|│> \t\r").split(mark)]
        if not all(_CELL_NAME.fullmatch(cell) for cell in names) or len(names) > 30:
            continue
        columns = [
            (i, name)
            for i, cell in enumerate(names)
            if (name := judge(cell)) is not None
            and name.strength >= 2
            and len(cell) <= 30
            and (cell != "pass" or not _USERS.isdisjoint(map(str.lower, names)))
            and _SHORT_NAME.fullmatch(cell)
        ]
        if not columns or len(names) < 2:
            continue
        position = stop + 1
        for _ in range(200):
            line_end = text.find("\n", position) if position else -1
            line = text[position : line_end if line_end >= 0 else len(text)]
            if not position or len(line) > 4000:
                break
            if _RULE.fullmatch(line):
                position = line_end + 1
                if line_end < 0:
                    break
                continue
            offset = len(line) - len(line.lstrip("|│> \t"))
            cells = line[offset:].split(mark)
            if len(cells) < len(names) or len(cells) > len(names) + 1:
                break
            for index, name in columns:
                raw = cells[index]
                value = raw.strip(" \"'`*\r|│")
                start = (
                    position + offset + sum(len(cell) + 1 for cell in cells[:index]) + raw.find(value) if value else 0
                )
                sure = (
                    is_weak_secret(value, True) and (has_digit(value) or (mark != "|" and name.strength == 3))
                    if name.strength == 3
                    else looks_secret(value)
                )
                if value and sure and " " not in value and not is_reference(value, False):
                    yield Span(start, start + len(value), name.kind, WEIGHT)
            if line_end < 0:
                break
            position = done = line_end + 1


def _aligned(text: str, heading: str, below: int) -> Iterator[Span]:
    """The same where nothing but spaces, and a line of dashes below the names, makes the columns."""
    names = _ALIGNED.findall(heading.strip())
    rule = _DASHES.match(text, below)
    if rule is None or len(names) < 2 or len(rule.group().split()) != len(names):
        return
    columns = [(i, said) for i, cell in enumerate(names) if (said := judge(cell)) is not None and said.strength >= 2]
    position = rule.end()
    for _ in range(200 if columns else 0):
        line_end = text.find("\n", position, position + 4000)
        cells = list(_ALIGNED.finditer(text, position, line_end if line_end >= 0 else min(len(text), position + 4000)))
        if len(cells) != len(names):
            return
        for index, said in columns:
            value = cells[index].group()
            sure = is_weak_secret(value, True) and has_digit(value) if said.strength == 3 else looks_secret(value)
            if sure and " " not in value and not is_reference(value, False):
                yield Span(cells[index].start(), cells[index].end(), said.kind, WEIGHT)
        if line_end < 0:
            return
        position = line_end + 1


def _inserts(text: str, lower: str) -> Iterator[re.Match[str]]:
    at = lower.find("insert")
    while at >= 0:
        match = _INSERT.match(text, at)
        if match is not None:
            yield match
        at = lower.find("insert", at + 6 if match is None else match.end())


def _insert(text: str, lower: str) -> Iterator[Span]:
    for match in _inserts(text, lower):
        names = [name.strip(" \"`[]'\n\t") for name in match.group("names").split(",")]
        for row in _ROW.finditer(match.group("rows")):
            at = match.start("rows") + row.start(1)
            for name, cell in zip(names, _CELL.finditer(row.group(1)), strict=False):
                said = judge(name)
                value = cell.group(1).strip("'\"")
                if (
                    said is not None
                    and said.strength >= 2
                    and cell.group(1)[:1] in "'\""
                    and (is_weak_secret(value, True) if said.strength == 3 else looks_secret(value))
                ):
                    start = at + cell.start(1) + 1
                    yield Span(start, start + len(value), said.kind, WEIGHT)


def _environment(text: str) -> Iterator[Span]:
    """In a block of an environment file a long random value is secret unless its name says what else it is."""
    if sum(1 for _ in lines(text, *_ANY_ENV_LINE)) < 2:
        return
    for line in lines(text, *_ENV_LINE):
        value = line.group("v")
        random = len(value) >= 16 and has_digit(value) and has_letter(value) and entropy(value[:200]) > 2.9
        address = value.startswith("/") or "://" in value or value.count("/") > 1
        public = _PLAIN_NAME.search(line.group("name")) is not None or is_public_id(value) or is_reference(value, False)
        public = public or _OPTIONS.fullmatch(value) is not None
        if random and not address and not public:
            yield Span(line.start("v"), line.end("v"), "env-value", WEIGHT)


def _json_manifest(text: str) -> Iterator[Span]:
    for kind in _JSON_KIND.finditer(text):
        for data in _JSON_DATA.finditer(text, max(0, kind.start() - 4000), kind.end() + 20000):
            for entry in _JSON_ENTRY.finditer(text, data.start("b"), data.end("b")):
                if not is_reference(entry["v"], True):
                    yield Span(entry.start("v"), entry.end("v"), "kubernetes-secret", WEIGHT)


def _manifest(text: str) -> Iterator[Span]:
    for kind in _MANIFEST.finditer(text):
        top = max(text.rfind("\n---", 0, kind.start()) + 1, 0, kind.start() - 4000)
        bottom = text.find("\n---", kind.end())
        bottom = min(len(text) if bottom < 0 else bottom, kind.end() + 20000)
        for data in _DATA.finditer(text, top, bottom):
            position = text.find("\n", data.end() - 1) + 1
            while 0 < position < bottom:
                line_end = text.find("\n", position, bottom)
                line_end = bottom if line_end < 0 else line_end
                entry = _ENTRY.match(text[position:line_end])
                if entry is None or len(entry.group()) - len(entry.group().lstrip()) <= len(data.group(1)):
                    break
                if len(entry.group("v")) >= 3 and not is_reference(entry.group("v"), False):
                    yield Span(position + entry.start("v"), position + entry.end("v"), "kubernetes-secret", WEIGHT)
                position = line_end + 1
