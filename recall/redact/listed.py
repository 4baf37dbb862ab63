"""Secrets that stand together: codes for a rainy day, the members of a private key, of an object that says secret, phrases.

One word calls for each of them; what is read behind it is bounded, and each place is read once.
"""

import re
from collections.abc import Iterable, Iterator

from .names import judge
from .proofs import accept
from .rule import QUOTE, Span
from .values import PLACEHOLDER, entropy, has_digit, is_public_id, is_reference, is_weak_secret, looks_random

WEIGHT = 18
_CODES = re.compile(
    r"(?:recovery|backup|scratch|emergency|rescue|one[- ]time|2fa|mfa|two[- ]factor|otp|security|login|access|device|einmal)[\w\- ()/]{0,40}?(?:codes|keys|tans|passcodes)|"
    r"(?:wiederherstellungs|sicherungs|backup-?)codes|códigos de (?:recuperación|recuperação|respaldo|seguridad)|codes de (?:secours|récupération)|codici di (?:backup|recupero)"
    r"|резервные коды|коды восстановления|恢复代码|恢复码|备用码|備用碼|リカバリーコード|バックアップコード|복구 코드|백업 코드",
    re.I,
)
_CODE_SIGNS = ("codes", "recovery keys", "backup keys", " tans", "codici", "códigos", "коды", "恢复代码", "恢复码", "备用码", "備用碼", "リカバリーコード", "バックアップコード", "복구 코드", "백업 코드")  # fmt: skip
# One of these is in every text with such a sign.
_CODE_WORDS = frozenset(("codes", "keys", "tans", "codici"))
_ACCOUNT = re.compile(
    r"[ \t]{0,20}(?:- )?[\"']?[A-Za-z_][\w.\-]{0,40}:(?P<v>[^\s:\"'][^\s\"']{2,200})[\"']?[ \t]*\r?(?=\n|$)"
)
_CODE_LETTERS = {sign: frozenset(letter for letter in sign if letter > "~") for sign in _CODE_SIGNS}
_FOREIGN_CODE_LETTERS = frozenset().union(*_CODE_LETTERS.values())
_CODE = re.compile(
    r"(?<![\w\-])(?=[A-Za-z0-9\- ]*[0-9])(?:[A-Za-z0-9]{4,8}(?:-[A-Za-z0-9]{4,8}){1,5}|[A-Za-z0-9]{8,16}|[0-9]{4} [0-9]{4}(?: [0-9]{4}){0,2})(?![\w\-])"
)
_KEYED = re.compile(
    rf"(?:{QUOTE})(?:d|p|q|dp|dq|qi|k)(?:{QUOTE})\s{{0,8}}:\s{{0,8}}(?:{QUOTE})(?P<v>[A-Za-z0-9_\-+/=]{{14,4000}})"
)
_PARENT = re.compile(
    rf"(?:{QUOTE})?(?P<n>[A-Za-z][\w.\-]{{1,60}})(?:{QUOTE})?\s{{0,4}}[:=]?\s{{0,4}}(?:\(|=>)?\s{{0,4}}\{{(?P<b>[^{{}}]{{0,600}})"
)
_MEMBER = re.compile(
    rf"(?:{QUOTE})?\b(?P<n>key|value|result|default|data|secret|content|plaintext|string|current|old|new|raw|val|hash|id|bcrypt_hash|primary|secondary)(?:{QUOTE})?\s{{0,4}}(?:[:=]|=>)\s{{0,4}}(?:{QUOTE})(?P<v>[^\"'`\\\n]{{3,2000}})",
    re.I,
)
_SECTION = re.compile(
    r"(?m)^(?P<i>[ \t]{0,20})(?:- )?[\"']?(?P<n>[A-Za-z][\w.\-]{1,40})[\"']?:[ \t]*\r?\n(?=(?P<b>(?:(?P=i)[ \t]{1,8}[^\n]{0,300}(?:\n|$)){1,8}))"
)
_COLON_LAST = re.compile(r":[ \t]*\r?\n")
_LINE_MEMBER = re.compile(
    r"(?mi)^[ \t]*(?P<n>key|value|secret|default|result|data|plaintext):[ \t]+[\"']?(?P<v>[^\s\"'#|>&*!{\[][^\s\"'#]{7,2000})[\"']?[ \t]*\r?$"
)
_PLAIN_MEMBERS = frozenset(("value", "default", "plaintext"))
_TYPED = re.compile(r"\b(?:type|sensitive)\b")
_TYPE_IS = re.compile(r"type\\{0,7}[\"']\s{0,4}:\s{0,4}\\{0,7}[\"'](?:random_|tls_|\w{0,40})$")
_KEY_IS = re.compile(rf"(?:{QUOTE})\s{{0,4}}:\s{{0,4}}(?:{QUOTE})(?P<v>[^\"'\\\s]{{16,2000}})")
_OBJECT_ABOVE = re.compile(rf"(?:{QUOTE})([\w.\-]{{2,40}})(?:{QUOTE})\s{{0,4}}:\s{{0,4}}\{{[^{{}}]{{0,300}}$")
_TYPED_MEMBER = re.compile(
    rf"(?:{QUOTE})(?:result|bcrypt_hash|value|secret|secret_string|key|token|b64_std|hex|private_key_pem)(?:{QUOTE})\s{{0,4}}:\s{{0,4}}(?:{QUOTE})(?P<v>[^\"\\\n]{{4,2000}})"
)
_WORD_LIST = re.compile(
    r"(?<![A-Za-z])(?P<v>(?:\d{1,2}[.):]\s{0,3})?[a-z]{3,8}(?:(?:[ ]|,[ ]?|\s{0,4}\n\s{0,4}|\s{1,4}\d{1,2}[.):]\s{0,3}|[ \t]{1,8}){1,2}(?:\d{1,2}[.):]\s{0,3})?[a-z]{3,8}){11,23})(?![A-Za-z])"
)
_NO_PHRASE = re.compile(
    r"\b(?:the|and|for|that|this|with|from|are|was|not|you|your|our|has|have|will|would|should|must|can|which|into|its|all|any|but|been|were|they|them|when|then|than|what|where|how|who|why|may|his|her|their|out|also|only|such|these|those|does|did|using|used|uses)\b"
)
_PHRASE_SIGNS = ("seed", "mnemonic", "phrase", "wallet", "keypair", "solana", "secretkey", "uint8array", "id.json", "助记词", "助記詞", "フレーズ", "frase", "фраз", "мнемо", "니모닉", "시드", "シード")  # fmt: skip
_PHRASE_WORDS = frozenset(
    ("seed", "mnemonic", "phrase", "wallet", "keypair", "solana", "secretkey", "uint8array", "frase")
)
WORDS = _CODE_WORDS | _PHRASE_WORDS | {"kty", "type", "chpasswd"}
_PHRASE_LETTERS = {sign: frozenset(letter for letter in sign if letter > "~") for sign in _PHRASE_SIGNS[9:]}
_FOREIGN_PHRASE_LETTERS = frozenset().union(*_PHRASE_LETTERS.values())
# What calls for this module in a text without one of its words.
OTHER_SIGNS = tuple(sign for sign in (*_CODE_SIGNS, *_PHRASE_SIGNS) if not sign.isascii())
_QUOTES = frozenset("\"'`")
_BYTES = re.compile(r"\[\s{0,8}(?P<v>\d{1,3}(?:\s{0,8},\s{0,8}\d{1,3}){31,127})\s{0,8}\]")


def find(text: str, lower: str, hits: list[tuple[int, int]], words: set[str], beyond: frozenset[str]) -> Iterator[Span]:
    foreign = not _FOREIGN_CODE_LETTERS.isdisjoint(beyond)
    if not _CODE_WORDS.isdisjoint(words) or foreign:
        yield from _codes(text, lower, [sign for sign, letters in _CODE_LETTERS.items() if letters <= beyond])
    if "kty" in words:
        done = 0
        for at in re.finditer(r"kty", text):
            for member in _KEYED.finditer(text, max(min(done, len(text)), at.start() - 3000), at.end() + 3000):
                yield Span(member.start("v"), member.end("v"), "private-key", WEIGHT)
            done = at.end() + 2900
    if "chpasswd" in words:
        yield from _accounts(text, lower)
    if hits and ("{" in text or "type" in words):
        yield from _members(text, hits, "type" in words)
    if ":\n" in text or ":\r\n" in text:
        yield from _sections(text, lower)
    signs = [sign for sign in _PHRASE_SIGNS[:9] if sign in words]
    if not _FOREIGN_PHRASE_LETTERS.isdisjoint(beyond):
        signs += [sign for sign, letters in _PHRASE_LETTERS.items() if letters <= beyond]
    if signs or "id.json" in lower:
        yield from _phrases(text, lower, [*signs, "id.json"])


def _heads(text: str, lower: str, signs: Iterable[str]) -> Iterator[re.Match[str]]:
    for sign in signs:
        for at in _places(sign, lower):
            head = _CODES.search(text, max(0, at - 60), at + len(sign))
            if head is not None:
                yield head


def _accounts(text: str, lower: str) -> Iterator[Span]:
    """The lines ``user:password`` that are given to a program which sets them."""
    for at in _places("chpasswd", lower):
        position = text.find("\n", at, at + 200) + 1
        skipped = 0
        while position:
            line = _ACCOUNT.match(text, position)
            if line is not None and not is_reference(line["v"], False) and line["v"].upper() not in ("RANDOM", "R"):
                yield Span(line.start("v"), line.end("v"), "password", WEIGHT)
            elif line is None:
                skipped += 1
                if skipped > 3:
                    break
            position = text.find("\n", position, position + 300) + 1


def _places(sign: str, lower: str) -> Iterator[int]:
    at = lower.find(sign)
    while at >= 0:
        yield at
        at = lower.find(sign, at + len(sign))


def _codes(text: str, lower: str, signs: Iterable[str]) -> Iterator[Span]:
    """The codes behind a word for them: on its line, and on the lines below for as long as they hold nothing else."""
    done = 0
    for head in _heads(text, lower, signs):
        if head.start() < done:
            continue
        same: re.Pattern[str] | None = None
        position = head.end()
        line_end = text.find("\n", position, position + 600)
        for number in range(40):
            stop = line_end if line_end >= 0 else min(len(text), position + 600)
            found = [code for code in _CODE.finditer(text, position, stop) if not is_public_id(code.group())]
            rest = text[position:stop]
            if number:
                if same is not None:
                    found += [code for code in same.finditer(text, position, stop) if not has_digit(code.group())]
                bare = PLACEHOLDER.sub("", _CODE.sub("", same.sub("", rest) if same is not None else rest))
                bare = re.sub(r"</?\w{1,20}>", "", bare)
                if len(re.sub(r"[\s\d\-*•.,;:|)(\]\[\"'`>#x✓✔☐\\]|\\n|&\w+;|</?\w+>", "", bare)) > 2 or (
                    not rest.strip() and number > 2
                ):
                    break
            elif found and not re.match(r"[\s\"'`*:=()\[\w]{0,40}?[:=(\[]", rest):
                found = []
            for code in found:
                if same is None and "-" in code.group():
                    shape = "-".join(f"[A-Za-z0-9]{{{len(part)}}}" for part in code.group().split("-"))
                    same = re.compile(rf"(?<![\w\-]){shape}(?![\w\-])")
                done = code.end()
                yield Span(code.start(), code.end(), "recovery-code", WEIGHT)
            if line_end < 0:
                break
            position = line_end + 1
            line_end = text.find("\n", position, position + 600)


def _members(text: str, hits: list[tuple[int, int]], typed: bool) -> Iterator[Span]:
    """``"Jwt": {"Key": …}``: the name of the object says what its plain member is; and a resource that has a type."""
    done = 0
    for start, end in hits:
        if typed or text[start - 1 : start] in _QUOTES:
            yield from _by_type(text, start)
        if start < done or text.find("{", end, end + 60) < 0:
            continue
        low = start
        while low > start - 60 and low > 0 and (text[low - 1].isalnum() or text[low - 1] in "_.-"):
            low -= 1
        parent = _PARENT.match(text, low)
        if parent is None:
            continue
        said = judge(parent["n"])
        if said is None or said.strength < 1:
            continue
        done = end
        declared = said.strength == 3 and _TYPED.search(parent["b"]) is not None
        for member in _MEMBER.finditer(text, parent.start("b"), parent.end("b")):
            if member["n"].lower() in ("id", "hash") or is_reference(member["v"], True):
                continue
            proof = "weak" if declared and member["n"].lower() in _PLAIN_MEMBERS else "sign"
            if accept(member["v"], said, proof, True):
                yield Span(member.start("v"), member.end("v"), said.kind, WEIGHT)


def _by_type(text: str, start: int) -> Iterator[Span]:
    """A resource of a type that says secret holds it as a plain member; a plain ``key`` is what its object says."""
    if (
        text.find("type", max(0, start - 70), start) >= 0
        and _TYPE_IS.search(text, max(0, start - 70), start) is not None
    ):
        for member in _TYPED_MEMBER.finditer(text, start, min(len(text), start + 1500)):
            if " " not in member["v"] and is_weak_secret(member["v"], True) and not is_public_id(member["v"]):
                yield Span(member.start("v"), member.end("v"), "secret", WEIGHT)
                break
    if text[start : start + 3].lower() == "key" and text[start - 1 : start] in _QUOTES:
        key = _KEY_IS.match(text, start + 3)
        above = _OBJECT_ABOVE.search(text, max(0, start - 360), start) if key is not None else None
        if key is not None and above is not None and _section_key(above.group(1), key["v"]):
            yield Span(key.start("v"), key.end("v"), "api-key", WEIGHT)


def _section_key(parent: str, value: str) -> bool:
    said = judge(parent + "_key")
    return (
        said is not None
        and said.strength >= 2
        and not is_public_id(value)
        and looks_random(value)
        and entropy(value) > 3
    )


def _headings(text: str) -> Iterator[re.Match[str]]:
    """The lines that end with a colon and could begin a section; a name in them is at most 70 characters from their start."""
    for colon in _COLON_LAST.finditer(text):
        line = text.rfind("\n", max(0, colon.start() - 80), colon.start()) + 1
        section = _SECTION.match(text, line) if line or colon.start() <= 80 else None
        if section is not None:
            yield section


def _sections(text: str, lower: str) -> Iterator[Span]:
    """The same in YAML: ``jwt:`` and below it ``key: …``."""
    if not any(f"{name}: " in lower for name in ("key", "value", "secret", "default", "result", "data", "plaintext")):
        return
    for section in _headings(text):
        said = judge(section["n"])
        for member in _LINE_MEMBER.finditer(text, section.start("b"), section.end("b")):
            if member["n"].lower() == "key" and _section_key(section["n"], member["v"]):
                yield Span(member.start("v"), member.end("v"), "api-key", WEIGHT)
            elif (
                said is not None
                and said.strength >= 2
                and not is_reference(member["v"], False)
                and accept(member["v"], said, "sign", False)
            ):
                yield Span(member.start("v"), member.end("v"), said.kind, WEIGHT)


def _phrases(text: str, lower: str, signs: list[str]) -> Iterator[Span]:
    """The words of a wallet behind a word for them, and its key as a list of bytes."""
    done = 0
    for start, end in sorted((at, at + len(sign)) for sign in signs for at in _places(sign, lower)):
        if start < done:
            continue
        done = end + 100
        low, high = max(0, start - 40), min(len(text), end + 500)
        for words in _WORD_LIST.finditer(text, end, high):
            count = len(re.findall(r"[a-z]{3,8}", words["v"]))
            if words.start() - end < 160 and count >= 12 and not _NO_PHRASE.search(words["v"]):
                done = words.end()
                yield Span(words.start("v"), words.end("v"), "mnemonic", WEIGHT + 30)
        for numbers in _BYTES.finditer(text, low, min(len(text), end + 900)):
            if all(int(part) < 256 for part in numbers["v"].split(",")):
                yield Span(numbers.start("v"), numbers.end("v"), "ledger-key", WEIGHT)
