"""Whether a value is a secret, or a reference to one, a placeholder, a type, a word of prose.

The name has already said that a secret belongs here; what is judged is only what stands in its place. ``literal`` values
stood in quotes; bare ones may as well be code. All questions are about the value alone, so that they can be cached.
"""

import math
import re
from functools import lru_cache

PLACEHOLDER = re.compile(
    r"\[REDACTED:[a-z0-9\-]{1,40}#[0-9]{1,9}\]|\[(?:[a-z]{1,20}/[\w.+\-]{1,60}|base64) omitted, [0-9]{1,12} bytes\]"
)

_SAYS_MARK = r"(?:redacted|masked|hidden|removed|omitted|filtered|elided|scrubbed|censored|sanitized|snip(?:ped)?|secret|password|token)(?:[:#][^\]\s>)}]{0,60})?"
# What stands where a secret was, ours or anybody's. Text that is glued to it may be the secret itself.
MARKS = re.compile(
    rf"(?i:(?:{PLACEHOLDER.pattern}|\[{_SAYS_MARK}\]|<{_SAYS_MARK}>|\{{{_SAYS_MARK}\}}|\({_SAYS_MARK}\))+)"
)
_OPENS_MARK = re.compile(r"[\[<{($%#]")
# What a template puts in: a value that is glued to it is still a value.
_VARIABLE = re.compile(
    r"\$\{[\w.:\-]{1,60}\}|\$\{\{[^{}\n]{1,60}\}\}|\{\{[^{}\n]{1,60}\}\}|\$\([^()\n]{1,60}\)|%[A-Za-z_]\w{0,40}%|#\{[^{}\n]{1,60}\}|<[A-Za-z][\w \-]{0,30}>"
)
_PLAIN_VALUE = re.compile(r"[A-Za-z0-9_\-+!#$%^*~.=]*")

_REFERENCE = re.compile(
    r"\$\{[^{}]*+\}|\$[A-Za-z_][A-Za-z_0-9:]*(?:\.[A-Za-z_]\w*)*|\$\([^()]*+\)?.*|`.*|%[A-Za-z_]\w*%|%\([\w.]+\)[sd]|%[sdvqr@]|\{\{.*|\{%.*"
    r"|\{[\w.\[\]!:]*\}?|<[^<>]*+>?|&lt;.*|#\{.*|@[A-Za-z_][\w.]*@|\[[A-Za-z _\-]+\]?|\$\[.*|\$\{.*|:[a-z_]+|[&*]{1,2}[A-Za-z_][\w.]*|\\\(.*|~?/[\w./\-]+|\.{1,2}/[\w./\-]*"
    r"|(?:arn|op|vault|ssm|awsssm|secretsmanager|gcpsm|env|file|ref\+\w+|keyring|azurekeyvault|sops|projects|kms|data)[:/]/?[\w./:\-${}#@ ]*"
    r"|(?:env|var|param|config|secret|getenv|ref|process)\(.*\)|[a-z_]+(?::[\w,.]*)?(?:\|[a-z_]+(?::[\w,./]*)?)+|[a-z_]+(?:\.[a-z_]\w*){1,6}\.[A-Za-z_]+"
    r"|arn:[\w\-]+:.*|ENC\[.*|@Microsoft\.KeyVault\(.*|!\w+(?:\s.*)?|\w:\\[\w\\. ]*|https?://[^@\s]*"
    r"|(?:env|var|local|secrets?|process\.env|os\.environ|import\.meta\.env|config|settings|self|this|args|opts|options|params|"
    r"props|ctx|req|request|module|data|vars|inputs|github|steps|needs|matrix|Deno|System|ENV|app|state|each|lookup)"
    r"(?:\??\.|\[|::|->)[\w.\[\]\"'!?:\->()]*",
    re.S,
)
_MASK = re.compile(
    r"[*•●·xX.…_\-#??×∗⋆]{2,}|[xX0#]+|.{0,12}(?:\*{3,}|•{3,}|x{6,}|X{6,}|\.{3,}|…|<.*>).{0,8}|(?:[A-Za-z]{2,12}[-_])?x{3,}[-x_]*",
    re.S,
)
_MARKED = re.compile(
    r"(?i)redacted|\bomitted\b|\bhidden\b|\bmasked\b|elided|removed|filtered|scrubbed|\bsnip|^your[-_ ]|^<|_here$|-here$|^insert[-_ ]"
)
_CALL = re.compile(
    r"[A-Za-z_$@!&*][\w.$:<>\[\]?!'\"\->]*\(.*|(?:await|new|yield|typeof|not|lambda|async|return|func|function|fn|def|if|else)\b.*",
    re.S,
)
_INDEX = re.compile(r"[A-Za-z_][\w.]*\[(?::|[A-Za-z_+\-][\w+\-.]*|\d{1,2}|[\"'].*)\]?.*", re.S)
_NO_WORD_OF_OURS = re.compile(r"[^A-Za-z0-9!@#$%^&*+=~]*")
# A pattern, a template: they stand for values, they are none.
_PATTERN = re.compile(
    r"\[\^?\\?\w-\w|\(\?[:=!<P]|\\[dwsWDSb](?![A-Za-z])|%(?:\(\w*\)|[\d.\-+]{0,6})[sd](?![A-Za-z0-9])|(?<!\$)\{[\w.!:]{0,30}\}"
)
_ATTRIBUTE = re.compile(r"[&*!@]*[A-Za-z_]\w*(?:(?:\??\.|::|->)[A-Za-z_]\w*)+[!?]?")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z_]*[0-9]?")
_WORDS_OF_SECRET = re.compile(
    r"(?i)pass|pwd|secret|token|key|credential|auth|cookie|session|value|input|string|param|config|setting|option|field|"
    r"header|bearer|env|user|name|data|text|arg|vault|salt|login|account"
)
# What stands where a value would, in signatures, tables of documentation, forms and configuration.
_WORDS = frozenset(
    "none null nil true false undefined void yes no on off empty required optional required. string str number boolean bool int integer "
    "float double any unknown never object bytes byte text varchar char list dict map array set tuple secretstr buffer uint8array "
    "date default self this missing invalid incorrect wrong password passwd pwd passphrase secret token key apikey api_key value "
    "n/a na tbd todo fixme nan char* option maybe usize u8 u16 u32 u64 i32 i64 string? string[] str? any? error errors hidden file env "
    "stdin prompt ask auto always never once basic bearer digest negotiate ntlm hmac md5 sha1 sha256 sha512 bcrypt scrypt argon2 pbkdf2 "
    "rsa ed25519 ecdsa aes aes256 hs256 rs256 es256 jwt oauth oauth2 oidc saml ldap iam mtls tls ssl ssh http https base64 hex utf8 "
    "utf-8 unicode ascii uuid uuid4 guid and or not is the a an to of in for from with by as at it its be was were are if then else when "
    "that this these those which who how why what where return returns import export const let var def class function async await "
    "static public private protected readonly final type interface enum struct field column changeme change_me change-me example "
    "placeholder dummy redacted your_password your-password yourpassword mypassword your_token your-token enabled disabled "
    "in-memory inmemory strict lax include omit same-origin anonymous text/plain application/json inherit pass fail passed failed ok "
    "varchar(255) secretref valuefrom secretkeyref configmapkeyref existingsecret generic opaque managed custom regex pattern "
    "clear plain plaintext encrypted hashed encoded raw expired revoked rotated active inactive valid unauthorized forbidden "
    "read write admin english test tests demo sample foo bar baz foobar pflichtfeld erforderlich obligatoria obligatorio obligatoire obligatória obligatório obbligatoria requerida requerido requise requis abgelaufen falsch ungültig "
    "incorrecta incorrecto inválida inválido invalide scaduto expirada expirado expirée incorrecte wachtwoord passwort kennwort contraseña senha "
    "username user email login admin_password name id git ssh url realm host split".split()
)
_PROSE = re.compile(
    r"(?i)\b(?:is|are|be|must|the|your|you|enter|please|required|to|for|of|not|at least|with|invalid|should|that|this|and|or|in|"
    r"from|has|have|will|was|can|cannot|an?|per|used|new|forgot|confirm|reset|change|use|using|only|if|when|missing|wrong|"
    r"field|here|found|on|by|as|it)\b"
)
_DENSE_WORD = re.compile(r"(?=[^\s]{0,40}[0-9])(?=[^\s]{0,40}[A-Z])(?=[^\s]{0,40}[a-z])[^\s]{7,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}")
_NUMBER = re.compile(r"[+\-]?[0-9][0-9_,]*(?:\.[0-9]+)?(?:[eE][+\-]?[0-9]+)?[a-zA-Z%]{0,4}")
_VERSION = re.compile(r"[vV^~=]*[0-9]+(?:\.[0-9x*]+){1,3}(?:[-+.][\w.]+)?")
_FILE = re.compile(
    r"[\w.\-/\\]*\.(?:py|ts|tsx|js|jsx|json|ya?ml|toml|md|txt|pem|crt|key|pub|go|rs|java|rb|php|sh|env|cfg|ini|conf|log|html|css|xml|sql|lock|csv|c|h|cpp|p12|jks|pfx|gpg|asc)(?::\d+)*"
)
_DATE = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]?[\d:.]*Z?)?")
_COLOUR = re.compile(r"#[0-9a-fA-F]{3,8}")
_HOSTLIKE = re.compile(
    r"(?:[a-z0-9\-]+\.)+(?:com|org|net|io|dev|invalid|local|internal|example|test|cn|jp|de)(?::\d+)?(?:/.*)?"
)
_SEPARATORS = re.compile(r"[-_./:]")
_NO_WORDS = re.compile(r"\W+")
_WORD_AND_NUMBER = re.compile(r"[A-Za-z]+[0-9]{1,2}")
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_PLAIN_NAME = re.compile(r"[a-z]+[-_]?[a-z]*[0-9]{1,2}")
_DIGIT = re.compile("[0-9]")
_FIGURES = re.compile(r"[\d.,:/\-% ]+")
_SIGN = re.compile(r"[!@#$%^&*+=?~]")
_EXCLAIMED = re.compile(r"[\w.]+[?!]*")
_OF_CODE = re.compile(r"[()=;]")
_OF_TEXT = re.compile(r"[(){}=;,]")
_ENDS_AS_NAME = re.compile(r"(?i)(?:pass|pwd|secret|token|key)\w*\d?$")


def entropy(value: str) -> float:
    """Shannon entropy in bits a character."""
    counts: dict[str, int] = {}
    for character in value:
        counts[character] = counts.get(character, 0) + 1
    return -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())


def has_digit(value: str) -> bool:
    return _DIGIT.search(value) is not None


def has_letter(value: str) -> bool:
    return any(character.isalpha() for character in value)


def mixed(value: str) -> bool:
    """A digit and a letter, or both cases in the middle of it: what an issued token looks like."""
    tail = value[-60:]
    if _MASK.fullmatch(value):
        return False
    return (has_digit(tail) and has_letter(tail)) or (
        len(set(tail)) > 6 and tail.lower() != tail and tail.upper() != tail
    )


def dense(value: str) -> bool:
    """Random enough to stand without a name behind a prefix of one or two letters."""
    return has_digit(value) and has_letter(value) and entropy(value[-80:]) > 2.9 and not _wordy(value)


def issued(value: str) -> bool:
    """Letters in both cases and digits all over it: no name, no number, no digest of a file."""
    digits = sum(map(str.isdigit, value))
    return digits >= 2 and value.lower() != value and value.upper() != value and entropy(value[-80:]) > 3.5


def _wordy(value: str) -> bool:
    """Words put together with dashes, underscores or dots: an identifier, a slug, a model's name."""
    parts = [part for part in _SEPARATORS.split(value) if part]
    plain = sum(
        len(part)
        for part in parts
        if (part.isdigit() and len(part) < 9) or (part.isalpha() and (part.islower() or part.istitle()))
    )
    return len(parts) > 1 and plain * 2 > len(value)


def unmarked(value: str) -> str:
    """What is glued to the marks at the beginning or the end of the value; the value itself where nothing is."""
    if _OPENS_MARK.search(value) is None:
        return value
    marks = [match.span() for match in MARKS.finditer(value)]
    if not marks:
        return _without_variables(value)
    rest = MARKS.sub("", value)
    if marks[0][0] > 0 and marks[-1][1] < len(value):
        # in the middle: the value goes on behind it, unless signs between them say that these are several values
        between = value[marks[0][0] - 1].isalnum() and value[marks[-1][1]].isalnum() and len(rest) >= 6
        return rest if _PLAIN_VALUE.fullmatch(rest) and (between or looks_random(rest)) else value
    parted = value[marks[0][1] : marks[0][1] + 1].isspace() or value[marks[-1][0] - 1 : marks[-1][0]].isspace()
    glued = len(rest) >= 4 and not parted and (looks_secret(rest) or (rest[0].isalnum() and rest[-1].isalnum()))
    return rest if glued and ":" not in rest[:1] and not rest.startswith(("@", "/")) else value


def _without_variables(value: str) -> str:
    """The value without the variables that are glued to it, where what is left is random enough to be a secret."""
    rest = _VARIABLE.sub("", value)
    if rest == value or len(rest) < 8 or not _PLAIN_VALUE.fullmatch(rest) or not has_digit(rest):
        return value
    return rest if looks_random(rest) and not _wordy(rest) and entropy(rest) > 2.8 else value


@lru_cache(maxsize=4096)
def is_reference(value: str, literal: bool) -> bool:
    """A placeholder, a variable, a call, a type or a word that only stands for a secret."""
    value = unmarked(value)
    if not value or "[REDACTED" in value or value.startswith("[image/"):
        return True
    if _PATTERN.search(value) is not None and not value.startswith("$"):
        return True
    if not value.isascii() and _NO_WORD_OF_OURS.fullmatch(value):
        return True  # a label or a sentence of another script
    if _MASK.fullmatch(value) or _MARKED.search(value) or value.lower().rstrip("?;,.!") in _WORDS:
        return True
    if _REFERENCE.fullmatch(value):
        return not (value.startswith("/") and mixed(value) and len(value) > 20 and not _wordy(value))
    if literal:
        return False
    if _CALL.fullmatch(value) or _INDEX.fullmatch(value):
        return True
    return _ATTRIBUTE.fullmatch(value) is not None and not _random_segment(value)


def odd(value: str) -> bool:
    """Capitals where neither a name in code nor a word has them."""
    return _ODD.search(value) is not None


_ODD = re.compile(r"^[A-Z][a-z]+[_\-][A-Za-z]*[a-z][A-Z]")


def _random_segment(value: str) -> bool:
    return odd(value) or any(
        len(part) >= 8 and has_digit(part) and has_letter(part) and not _IDENTIFIER.fullmatch(part)
        for part in _NO_WORDS.split(value)
    )


@lru_cache(maxsize=4096)
def is_public_id(value: str) -> bool:
    """What is never a secret by itself, whatever weak name stands beside it: ids, versions, dates, files, hosts."""
    return bool(
        _UUID.fullmatch(value) or _VERSION.fullmatch(value) or _FILE.fullmatch(value) or _DATE.fullmatch(value) or _HOSTLIKE.fullmatch(value) or _COLOUR.fullmatch(value)
        or value.startswith(("sha256:", "sha512-", "sha256-", "sha384-", "sha1-", "md5:", "toolu_", "call_", "msg_", "resp_", "chatcmpl-", "ses_", "application/", "text/", "image/"))
    )  # fmt: skip


@lru_cache(maxsize=4096)
def looks_random(value: str) -> bool:
    """For names of strength 1: nothing but an issued token or a good password passes."""
    if len(value) < 8 or is_public_id(value) or _NUMBER.fullmatch(value) or not has_letter(value):
        return False
    if " " in value or (len(value) < 16 and _WORD_AND_NUMBER.fullmatch(value)):
        return False
    if has_digit(value):
        return not _wordy(value) and entropy(value) > 2.4
    return (
        len(value) >= 20
        and value.isalpha()
        and not value.islower()
        and not value.isupper()
        and entropy(value) > 3.4
        and not camel(value)
    )


def camel(value: str) -> bool:
    """An identifier in camel case: its humps are words, not single letters."""
    humps = _HUMP.findall(value)
    return len(humps) <= len(value) / 4 and max(map(len, humps), default=0) <= 14


@lru_cache(maxsize=4096)
def looks_secret(value: str) -> bool:
    """For names of strength 2: a token or a password, not a word, a number, a path, a sentence."""
    if (
        len(value) < 5
        or (is_public_id(value) and not _UUID.fullmatch(value))
        or (_NUMBER.fullmatch(value) and len(value) < 16)
    ):
        return False
    if " " in value:
        return False
    if has_digit(value) and has_letter(value):
        if _PLAIN_NAME.fullmatch(value) and len(value) < 12:
            return False
        return not _wordy(value) or (
            entropy(value) > 3.6 and len(value) >= 20 and sum(map(str.isdigit, value)) * 6 > len(value)
        )
    if len(value) >= 16 and value.isalpha() and value.isupper():
        return sum(letter in "AEIOU" for letter in value) * 4 < len(value)
    if has_digit(value):
        return len(value) >= 6 and not _DATE.fullmatch(value) and not _FIGURES.fullmatch(value)
    if _SIGN.search(value) and has_letter(value):
        return len(value) >= 8 and _EXCLAIMED.fullmatch(value) is None and "(" not in value
    return value.isalpha() and len(value) >= 16 and (not camel(value) and not value.isupper())


@lru_cache(maxsize=4096)
def is_weak_secret(value: str, literal: bool) -> bool:
    """For names of strength 3 in a strong syntax: everything that is not a reference, a name or a sentence."""
    value = unmarked(value)
    if len(value) < 3 or is_reference(value, literal):
        return False
    if " " in value.strip():
        words = value.split()
        if len(words) <= 3 and _DENSE_WORD.search(value) and not _PROSE.search(value) and not _OF_CODE.search(value):
            return True
        if len(words) <= 4 and value.replace(" ", "").isalpha() and _WORDS_OF_SECRET.search(value):
            return False
        return (
            len(words) <= 30
            and not _PROSE.search(value)
            and not _OF_TEXT.search(value)
            and (literal or len(words) >= 4)
        )
    if value.isdigit():
        return len(value) >= 4
    if is_public_id(value) and not _UUID.fullmatch(value) and not (_HOSTLIKE.fullmatch(value) and has_digit(value)):
        return False
    if _IDENTIFIER.fullmatch(value) and (
        _WORDS_OF_SECRET.search(value) or ("_" in value and not literal and not odd(value))
    ):
        return has_digit(value) and "_" not in value and _ENDS_AS_NAME.search(value) is None
    if re.fullmatch(
        r"[A-Za-z]+(?:[-_./][A-Za-z]+)+", value
    ):  # a name made of words; secret ones are spelt with a digit or a sign
        return not _WORDS_OF_SECRET.search(value) and "/" not in value and "." not in value
    return has_letter(value) or has_digit(value) or len(value) >= 8


def is_phrase(value: str, said: bool) -> bool:
    """Words as a password: four groups of four letters, a dozen and more, or three where the name says phrase."""
    words = value.split()
    if len(words) == 4 and all(len(word) == 4 and word.islower() for word in words):
        return not _PROSE.search(value) and sum(_VOWELS.isdisjoint(word) or entropy(word) > 1.4 for word in words) > 1
    if len(words) >= 12 and len(words) % 3 == 0 and value.islower() and said:
        return True
    return (
        said and len(words) >= 3 and not _PROSE.search(value) and not _WORDS_OF_SECRET.search(value) and len(words) < 9
    )


def is_plain_phrase(value: str) -> bool:
    """Four to eight plain words as a password, where no word of them is one of a sentence or of an instruction."""
    words = value.split()
    return (
        4 <= len(words) <= 8
        and all(3 <= len(word) <= 12 and word.isalpha() and word.islower() for word in words)
        and not _PROSE.search(value)
        and not _WORDS_OF_SECRET.search(value)
        and _INSTRUCTS.isdisjoint(words)
    )


_INSTRUCTS = frozenset(
    "see ask check look same get got stored store saved kept rotate rotated none never always also still now then than same "
    "above below before after between least most more less long short minimum maximum characters letters digits upper "
    "lower case sensitive numbers symbols about into over under very just like they them their our his her its who what "
    "which where when why how all any both each but nor yet does did had been being would could may might run test tests "
    "build lint deploy type check parse load read write set unset add added remove removed update updated fix fixed file "
    "files line lines code function method class object string bytes first last next previous one two three four five".split()
)
_VOWELS = frozenset("aeiouy")


def is_plain_number(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None
