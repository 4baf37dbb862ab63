"""How a value follows its name: one row for each syntax, tried in order at the end of a name that says secret.

A row says what must stand before the name, what joins name and value, which forms the value may have, and how strict the
judgement of the value is. ``quoted`` and ``bare`` are the smallest proof asked of a name of strength 3; weaker names ask
for more in any syntax (see ``assignments``).
"""

import re
from dataclasses import dataclass

from .rule import QUOTE

SPACE = r"(?:[ \t\u3000]|\\\r?\n)"
BREAK = r"(?:[ \t\u3000\r\n]|\\n|\\r|\\t)"
_TYPE = r"(?:\s[Aa]s\s(?:[Nn]ew\s)?[A-Za-z][\w.]{0,30})?(?:\s?\{[^{}\n]{0,60}\})?(?:\s{0,4}:[ \t]{0,4}(?:[&*\[\]]{0,3})(?:static\s)?[A-Za-z_][\w.\[\]|<>?&']{0,40}(?:\s\|\s\w{1,20})?)?"
_OPERATOR = rf"{SPACE}{{0,40}}(?:===?|!==?|=>|->|:=|::?=?|\?\?=|\|\|=|[?+.]?=|:|=|<-|⇒|→)(?!\s{{0,2}}[=>])"
_STRING_PREFIX = r"(?:[rbfuRBFUL@$]{1,2}(?=[\"'])|(?:SecretStr|String|str|bytes|Some|new\s\w{1,20}|Secret|SecureString|Buffer\.from|\w{0,20}Secret\w{0,10}|r#{1,2}|\[\](?:byte|rune|u8|char))\s?(?:\(|::from\(|(?=\")))?"
_QUOTE_NEAR = r"(?=[^\"'`&%“”‘’「」『』«»\\]{0,80}[\"'`&%“”‘’「」『』«»\\])"  # most text has none: cheaper than to try
_OPENING = rf"(?P<q>\"\"\"|'''|{QUOTE})"

FARTHEST_QUOTE = 1500  # longer than any join is
A_QUOTE = re.compile(r"[\"'`&%“”‘’「」『』«»\\]")  # what all of `QUOTE` begin with

# What a shell, a file or a program puts between two words where a flag, an environment or a login takes its value.
_SPACED_BEFORE = re.compile(
    r"(?i)(?:^|[\s\"'`])(?:setx|ENV|ARG|setenv|SetEnv|set(?:\s-\w{1,4}){1,3}|config(?:ure)?\sset|config|kv\sput\s\S{1,80}|secrets?\s(?:set|put|add|create)|"
    r"env\sadd|login\s\S{1,60}|machine\s\S{1,80}|default|psk|-e|--env|--build-arg|add_user|export|put|define|let|"
    r"wifi-sec\.|alias\sset|set|user(?:name)?\s\S{1,60})\s{1,6}[\w.\-/:]{0,40}$"
)
_SETS_BEFORE = re.compile(
    r"(?:^|[\s\"'`])(?:setx|ENV|setenv|SetEnv|set\s-[gUx]{1,3}|#\s?define|%define|-define)\s{1,6}[\w.\-]{0,40}$"
)
_SETTER = re.compile(
    r"(?i)(?:fill|type|setenv|set|put|put\w{0,12}|set\w{0,16}|fetch|getenv|getenv_or|get|environ\.get|env|getproperty|setproperty|add|append|insert|send_?keys|setvalue|field|buildconfigfield|"
    r"environmentvariable|config|define|environ|header|withenv|with\w{1,12}|secret|param|hset|hmset|property|option|credential|input|clear|change|enter\w{0,10}|lookup|getordefault|std::env::set_var|set_var|putenv|login|default)"
    r"\(\s{0,8}(?:[\w.]{1,30},\s?|[\"'][\w.\- ]{1,30}[\"'],\s?)?\w?[\"'`](?:[^\"'`\n(),]{0,60}[\W_]|\w{0,30})?$"
)
_FIRST_ARGUMENT = re.compile(r"[\w\])]\(\s{0,8}\w?[\"'`][\w.\-/:]{0,40}$")
_FLAG_BEFORE = re.compile(r"(?:^|[\s\"'`\[,(|])(?:--?|/)[\w.]{0,20}$")
_PAIR_NAMES = r"(?:value|parametervalue|default(?:value)?|content|contents|val|data|secret_?value|plaintext|string_?value|text|body|v)"


# q: quotes, also escaped and encoded; s: white space; o: signs that join. Everything else joins only in sentences.
GROUPS = {
    **dict.fromkeys("\"'`&%“”‘’「」『』«»", "q"), **dict.fromkeys(" \t\r\n\u3000", "s"),
    **dict.fromkeys(":=!?+.|-<>→⇒:=)](,*│┃{", "o"), "\\": "qs",
}  # fmt: skip


# What a program asks for at the beginning of a line, and for whom.
_ASKED_FOR = (
    r"(?:\s(?:for|of|to|on)\s[\w.@\-'/]{1,60}(?:\s[\w.@\-']{1,40}){0,2}?)?(?:\s?[\[(][^\[\]()\n]{0,30}[\])])?\s?"
)
_AT_PROMPT = re.compile(r"^[ \t]{0,8}(?:[?>!$✔] )?(?:[A-Za-z]\w{0,12}[ ]){0,4}[A-Za-z_\-]{0,20}$")


@dataclass(frozen=True, slots=True)
class Syntax:
    """``join`` runs from the end of the name to the beginning of the value; a group ``q`` is the opening quote."""

    name: str
    opens: str  # which groups of characters a join may begin with, so that most rows are passed over unread
    join: re.Pattern[str]
    proof: str  # weak: anything that is no reference; sign: a digit or a sign in it; secret: looks like a secret
    before: re.Pattern[str] | None = None
    stop: str = ""  # more characters that end a bare value

    @property
    def ends_in_quote(self) -> bool:
        """Whether no value follows but behind a quote, which is then at most `FARTHEST_QUOTE` from the name."""
        return self.join.pattern.endswith(_OPENING)


def _join(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.I)


SYNTAXES: tuple[Syntax, ...] = (
    Syntax("shell default", "o", _join(r"(?::?[-=+?])"), "weak", re.compile(r"\$\{$"), "}"),
    Syntax("flag quoted", "so", _join(rf"(?:{SPACE}{{1,40}}|=|:)(?:\$)?{_OPENING}"), "weak", _FLAG_BEFORE),
    Syntax("flag", "so", _join(rf"(?:{SPACE}{{1,40}}|=|:)(?!-)"), "flag", _FLAG_BEFORE),
    Syntax(
        "flag in a list",
        "q",
        _join(rf"(?:{QUOTE}\s{{0,40}},\s{{0,40}}){_OPENING}(?!-)"),
        "weak",
        re.compile(r"[\"'`]--?[\w.]{0,20}$"),
    ),
    Syntax(
        "quoted key, quoted value",
        "q",
        _join(
            rf"{QUOTE}\s{{0,8}}\]?\s{{0,40}}(?:::?|=>|\|\|=|\?\?=|[!=]==?|=|->|:|:=|\|)\s{{0,40}}{_STRING_PREFIX}{_OPENING}"
        ),
        "weak",
    ),
    Syntax("quoted key, list", "qos", _join(rf"(?:{QUOTE})?\s{{0,8}}[:=]\s{{0,8}}[\[(]\s{{0,40}}{_OPENING}"), "sign"),
    Syntax(
        "quoted key, bare value",
        "q",
        _join(
            rf"{QUOTE}\s{{0,8}}\]?\s{{0,40}}(?:::?|=>|=|->|:|:=)[ \t]{{0,40}}(?![\[({{](?!redacted|masked|hidden|removed|filtered))"
        ),
        "sign",
    ),
    Syntax(
        "assignment, quoted", "os", _join(rf"[)\]!?]?{_TYPE}{_OPERATOR}\s{{0,40}}\(?{_STRING_PREFIX}{_OPENING}"), "weak"
    ),
    Syntax(
        "fallback, quoted",
        "os",
        _join(
            rf"{_OPERATOR}{_QUOTE_NEAR}[^\n\"'`]{{1,60}}(?:[\"'`][\w.\-]{{1,40}}[\"'`][^\n\"'`]{{0,20}}?)?(?=[|?oe,])(?:\|\||\?\?|\bor\b|\belse\b|,|\?:)\s{{0,8}}{_OPENING}"
        ),
        "sign",
    ),
    Syntax("fallback beside its name", "os", _join(rf"\s{{0,4}}(?:\|\||\?\?|\bor\b|\?:)\s{{0,4}}{_OPENING}"), "sign"),
    Syntax(
        "default of a variable",
        "q",
        _join(rf"(?:{QUOTE})\s{{0,4}}\{{[^{{}}]{{0,300}}?\b(?:default|value)\s{{0,20}}=\s{{0,4}}{_OPENING}"),
        "sign",
    ),
    Syntax(
        "default of a lookup",
        "qo",
        _join(rf"{QUOTE}\)?\s{{0,4}}(?:,|\|\||\?\?|or\b)\s{{0,4}}(?:\w{{1,16}}\s?=\s?)?{_OPENING}"),
        "sign",
        _FIRST_ARGUMENT,
    ),
    Syntax(
        "argument of a setter",
        "qo",
        _join(
            rf"(?:[\"']?\])?{QUOTE}\)?\s{{0,4}}(?:,|\.(?:fill|type|send_keys|sendKeys|setValue|set|val|clear\(\)\.type|should\([^()\n]{{1,40}}\)\.type|setValue|value)\()\s{{0,8}}(?:\w{{1,16}}\s?=\s?)?(?:@?[\"'](?=\\{{1,3}}[\"']))?{_STRING_PREFIX}{_OPENING}"
        ),
        "weak",
        _SETTER,
    ),
    Syntax(
        "typed into a field",
        "qo",
        _join(
            rf"(?:[\"']?\]|\w{{0,20}})?(?:{QUOTE})?\)(?:\.\w{{1,20}}\([^()\n]{{0,40}}\)){{0,3}}\.(?:fill|type|send_?keys|setvalue|set|val|value|press_?sequentially|pressSequentially|enter_?text|typetext|input|clear_and_type)\(\s{{0,4}}{_OPENING}"
        ),
        "weak",
    ),
    Syntax(
        "function that returns",
        "o",
        _join(
            rf"\([^()\n]{{0,80}}\)(?:\s?(?:->|:)\s?[\w.\[\]<>|]{{1,40}})?\s{{0,4}}(?::|\{{|=>|=)\s{{0,24}}(?:return\s|=>\s?)?{_STRING_PREFIX}{_OPENING}"
        ),
        "sign",
    ),
    Syntax(
        "element beside its name",
        "so",
        _join(r"</\w{1,20}>(?:\s|\\n|\\r|\\t){0,60}<\w{1,20}(?:\s[^<>\n]{0,80})?>(?:<!\[CDATA\[)?"),
        "weak",
        re.compile(r"<\w{1,20}(?:\s[^<>\n]{0,80})?>[\w.\- ]{0,40}$"),
        "<]",
    ),
    Syntax(
        "table cell",
        "qso",
        _join(rf"(?:{QUOTE}|\*\*)?{SPACE}{{0,40}}[|│┃]{SPACE}{{0,40}}(?P<q>`|\*\*)?"),
        "sign",
        None,
        "|│┃",
    ),
    Syntax(
        "element",
        "so",
        _join(r"(?:\s[^<>\n]{0,200})?>\s{0,40}(?:<!\[CDATA\[)?"),
        "weak",
        re.compile(r"(?<![:/@=])<[\w.:\-]{0,40}$"),
        "<]",
    ),
    Syntax(
        "element named by an attribute",
        "q",
        _join(rf"{QUOTE}[^<>\n]{{0,200}}>\s{{0,40}}(?=[^<\s])"),
        "weak",
        re.compile(
            r"(?i)<(?!input|meta|link|img|button|label|select|textarea)[^<>\n]{1,80}\s(?:name|key|id)=\\?[\"'][\w.\-]{0,40}$"
        ),
        "<",
    ),
    Syntax(
        "value in its element",
        "o",
        _join(
            r"(?:\s[^<>\n]{0,80})?>\s{0,40}<(?:\w{1,20}:)?(?:value|text|string|data|content|plain)(?:\s[^<>\n]{0,80})?>(?:<!\[CDATA\[)?"
        ),
        "weak",
        re.compile(r"<(?:[\w\-]{1,20}:)?[\w.\-]{0,40}$"),
        "<]",
    ),
    Syntax(
        "prompt with a hint",
        "s",
        _join(r"\s?[\[(][^\[\]()\n]{0,30}[\])]\s?:[ \t]{1,4}"),
        "sign",
        re.compile(r"^[ \t]{0,8}(?:[?>] )?(?:[A-Za-z]\w{0,12}[ ]){0,3}[A-Za-z_\-]{0,20}$"),
    ),
    Syntax(
        "value of a registry",
        "s",
        _join(r"[ \t]{1,40}REG_(?:SZ|EXPAND_SZ|MULTI_SZ|BINARY|DWORD)[ \t]{1,40}"),
        "weak",
    ),
    Syntax(
        "tuple of a name and a value",
        "o",
        _join(rf",\s{{0,8}}{_STRING_PREFIX}{_OPENING}"),
        "sign",
        re.compile(r"[\[({]\s?:[\w\-]{0,40}$"),
    ),
    Syntax("element, escaped", "q", _join(r"(?:\s[^<>&\n]{0,100})?&gt;"), "weak", re.compile(r"&lt;$"), "&"),
    Syntax(
        "flag that takes the value",
        "qs",
        _join(
            rf"(?:{QUOTE})?{SPACE}{{1,20}}(?:(?:--(?:body|value|secret-string|data|secret)|-b)(?:[ =]|(?=[\"'\w])))(?P<q>[\"'])?"
        ),
        "weak",
        re.compile(r"(?i)(?:set|add|put|parameter|name|create|update|edit)\b[^\n]{0,60}$"),
    ),
    Syntax(
        "attribute of a pair",
        "q",
        _join(
            rf"(?:{QUOTE})(?:\s{{1,8}}[\w:\-]{{1,30}}(?:=(?:\\?\"[^\"<>\n]{{0,80}}\"|'[^'<>\n]{{0,80}}'|[\w\-]{{1,40}}))?){{0,8}}?\s{{1,8}}(?:value|content|defaultValue)\s?=\s?{{?{_OPENING}"
        ),
        "weak",
    ),
    Syntax(
        "pair, quoted",
        "qso",
        _join(
            rf"(?:{QUOTE})?{BREAK}{{0,60}}(?:[,;]{BREAK}{{0,40}}{QUOTE}\w{{1,30}}{QUOTE}\s{{0,4}}:\s{{0,4}}(?:{QUOTE}[^\"'\n]{{0,80}}?{QUOTE}|[\w.]{{1,20}})){{0,4}}[,;]?{BREAK}{{0,60}}(?:-\s)?(?:{QUOTE})?{_PAIR_NAMES}(?:{QUOTE})?\s{{0,8}}(?::|=>?){BREAK}{{0,8}}{_OPENING}"
        ),
        "weak",
        re.compile(
            rf"(?i)(?:name|key|variable|env|id|field|parameter|header|option|n|k)(?:{QUOTE})?\s{{0,8}}[:=]>?\s{{0,8}}(?:{QUOTE})?[\w.\-]{{0,40}}$"
        ),
    ),
    Syntax(
        "pair",
        "qso",
        _join(rf"(?:{QUOTE})?{BREAK}{{0,60}}[,;]?{BREAK}{{0,60}}(?:-\s)?{_PAIR_NAMES}\s{{0,8}}[:=]{SPACE}{{0,8}}"),
        "weak",
        re.compile(
            rf"(?i)(?:name|key|variable|env|id|field|parameter|header|option)(?:{QUOTE})?\s{{0,8}}[:=]\s{{0,8}}(?:{QUOTE})?[\w.\-]{{0,40}}$"
        ),
    ),
    Syntax("call that sets", "so", _join(rf"\s?[({{{{]\s{{0,8}}{_STRING_PREFIX}{_OPENING}"), "sign"),
    Syntax(
        "name and value as arguments",
        "q",
        _join(rf"(?:{QUOTE})\s{{0,8}},\s{{0,8}}{_STRING_PREFIX}{_OPENING}"),
        "sign",
        _FIRST_ARGUMENT,
    ),
    Syntax(
        "pair in a list",
        "q",
        _join(rf"(?:{QUOTE})\s{{0,4}},\s{{0,4}}{_STRING_PREFIX}{_OPENING}"),
        "secret",
        re.compile(r"(?:^|[\[({,\n>]\s{0,8})\\?[\"'`][\w.\-]{0,40}$"),
    ),
    Syntax("form data", "q", _join(r"%(?:22|27)(?:%20|\+)?(?:%3A|:)(?:%20|\+)?(?P<q>%22|%27)"), "weak"),
    Syntax("encoded assignment", "q", _join(r"(?:%3D|%3d)"), "sign", None, "%&"),
    Syntax(
        "multipart field",
        "qs",
        _join(rf"{QUOTE}?(?:\r?\n|\\r\\n|\\n){{2}}"),
        "weak",
        re.compile(r"(?i)name=[\\\"']{1,4}[\w.\-]{0,40}$"),
    ),
    Syntax("assignment, tight", "o", _join(r"[)\]]?(?::?=|:)(?![=\s>])(?!//)"), "line"),
    Syntax(
        "assignment, loose",
        "os",
        _join(rf"[)\]!?]?{_TYPE}{_OPERATOR}{SPACE}{{0,40}}(?:!!\w{{1,20}}\s|&\w{{1,30}}\s(?=\S))?(?![=\s>])"),
        "line",
    ),
    Syntax("spaced, quoted", "qso", _join(rf"(?:{QUOTE}|\*\*)?{SPACE}{{1,40}}(?:=\s)?{_OPENING}"), "sign"),
    Syntax("spaced after a verb that sets", "s", _join(rf"{SPACE}{{1,40}}(?!=)(?:{_OPENING})?"), "weak", _SETS_BEFORE),
    Syntax("spaced", "s", _join(rf"{SPACE}{{1,40}}(?!=)"), "sign", _SPACED_BEFORE),
    Syntax(
        "line by itself",
        "qso",
        _join(
            rf"(?:{QUOTE})?\s?[::=]{SPACE}{{0,40}}(?:\r?\n|\\r?\\n){{1,2}}{SPACE}{{0,40}}(?:```\w{{0,12}}\r?\n|[>|*+\-]\s)?(?P<q>`)?"
        ),
        "lone",
    ),
    Syntax(
        "alone on its line, the value below",
        "s",
        _join(rf"{SPACE}{{0,8}}(?:\r?\n){{1,2}}{SPACE}{{0,40}}(?P<q>`)?"),
        "below",
        re.compile(r"^[ \t>#*\-]{0,8}(?:\w{1,20}[ ]){0,3}[\w.\-]{0,40}$"),
    ),
    Syntax(
        "prompt",
        "o",
        _join(r">[ \t]{1,4}(?=\S{3,200}[ \t]*(?:\r?\n|$))"),
        "sign",
        re.compile(r"^[ \t]{0,8}(?:[A-Za-z]\w{0,12}[ ]){0,3}[A-Za-z_\-]{0,20}$"),
    ),
    Syntax(
        "prompt that asks",
        "so",
        _join(rf"{_ASKED_FOR}[?:]?[ \t]{{0,4}}[>›❯»][ \t]{{1,4}}(?=\S{{3,200}}[ \t]*(?:\r?\n|$))"),
        "weak",
        _AT_PROMPT,
    ),
    Syntax(
        "question that asks",
        "so",
        _join(rf"{_ASKED_FOR}\?:?[ \t]{{1,4}}(?=\S{{3,200}}[ \t]*(?:\r?\n|$))"),
        "sign",
        _AT_PROMPT,
    ),
    Syntax("columns", "sqo", _join(r"(?:[ ]{2,80}|\t{1,8}[ ]{0,8}|,(?=\S))(?P<q>\")?"), "column"),
)

# Sentences: the name, perhaps whose it is, a verb, the value.
_OF = (
    r"(?:\s?\([^()\n]{1,40}\)|\s(?:for|of|on|to|in|at|from|von|für|fürs|auf|de|del|della|dello|di|do|da|du|des|pour|sur|para|per|der|des|dem|vom|voor|van|для|от|"
    r"(?:you|they|he|she|we|I)\s(?:gave|sent|shared|pasted|mentioned|told|showed|asked\sfor)(?:\s(?:me|us|you|them))?|I\s(?:use|used|got|have)|we\suse)"
    r"(?:\s[\w.@/\-]{1,40}){0,4}?(?=[\s:]))?"
)
_BE = (
    r"is|was|are|should\sbe|will\sbe|must\sbe|would\sbe|might\sbe|ist|lautet|war|wäre|est|était|es|era|é|è|är|er|to|это|jest|to\sjest|быть|becomes|became|being|equals|reads|"
    r"(?:is\s|was\s|has\sbeen\s|been\s|got\s|now\s)?(?:set|changed|reset|rotated|updated|switched)\s(?:to|as|from)|là|هي|هو|היא|הוא|คือ|sarà|sera|será|devient|wird|lautete|staat\sop|heißt|ska\svara"
)
_NOW = r"(?:(?:now|still|just|simply|actually|currently|literally|also|probably|jetzt|noch|nun|ahora|maintenant|toujours|encore|agora|ora|adesso|теперь)\s)?"
_VERB = (
    rf"(?:\s(?:(?:is|was|has\sbeen)\s(?:now\s)?(?:set|changed|reset|rotated|updated)\s(?:to|from)|{_BE})(?:\s{_NOW}(?::\s?)?|\s?[:=]\s?)|’s\s|'s\s|\s?(?:=|:|->|=>|→|⇒|–|—|›|❯|»|- )\s?|"
    r"\s?は(?:こちら|これ|以下|次)(?:です|の通り|のとおり)?\s?[:、。]?\s{0,2}|\s?(?:如下|在这里?|在這裡?|是这个|是這個)\s?[:,]\s{0,2}|"
    r"\s?(?:を|は|が|で)?(?:使って|つかって|使用して|入力して|設定して|試して|ログインして)(?:ください|下さい|みて)?\s?[:、]?\s?|"
    r"(?:를|을|로)?\s?(?:사용하세요|쓰세요|사용해\s?주세요|입력하세요)\s?[::]?\s?|"
    r"\s?(?:已经|已|现在|現在|暂时|目前|应该|應該|可能|还|還|仍|依然|依旧)?(?:用的是|使用|用|是|为|為|就是|設定為|设置为|设为|设成|设定为|改成了?|改为|換成|换成|等于|叫|は、?|が|を|이|가|는|은|를|을)(?:了|：)?\s?:?\s?|"
    r"\s?[\[【](?=[0-9]{4,8}[\]】])|\s\((?=[^()\s]{1,200}\))|\s-\s|,\s(?=[^\s,]{0,40}[0-9!@#$%^&*][^\s,]{0,100},\s)|\s?<(?=[^<>\s]{6,400}>(?!\w)))"
)
_WHICH = r"(?:\s(?:d')?(?:API|privée?|privad[ao]|privat[ao]|secrètes?|secret[ao]|segret[ao]|secrete?|TOTP|OTP|2FA|MFA|SSH|AWS|OAuth|bot|provided|given|supplied|used|below|here|again|value|string|itself|accès|acceso|accesso|acesso|المرور|السر)){0,2}"
FIRST_WORDS = _OF + _BE + _NOW + _VERB + _WHICH
SENTENCE = re.compile(rf"(?:\*\*|__|{QUOTE})?{_WHICH}{_OF}{_WHICH}{_VERB}(?:(?:\*\*|__)\s?)?(?P<q>{QUOTE})?", re.I)
# What was changed from one value to another; the first of them stands behind a verb of its own.
FROM_TO = re.compile(
    rf"{_OF}(?:\s(?:is|was|has\sbeen|been|got|now))?\s(?:set|changed|reset|rotated|updated|switched)\sfrom\s[^\n]{{1,80}}?\sto\s(?P<q>{QUOTE})?",
    re.I,
)
# A clause between the name and its value, or a fence: then only what can be nothing but a token is one.
LATER = re.compile(
    rf"(?:(?: \([^()\n]{{1,60}}\)|, [^\n:]{{1,60}}|(?: [\w'’]{{1,15}}){{1,6}}?(?: \([^()\n]{{1,60}}\))?)(?::[ \t]{{0,2}}(?:\r?\n){{0,2}}|[ ](?:is|was):?[ ])|"
    rf":?[ \t]*(?:\r?\n){{1,2}}```\w{{0,12}}\r?\n)(?P<q>{QUOTE})?(?=[\w+/=.\-]{{20,400}}(?![\w+/=\-]))",
    re.I,
)
BESIDE = re.compile(rf"(?:\sAPI)?(?:[ \t]|[ \t]\((?=[^()\s]{{1,200}}\)))(?P<q>{QUOTE})?", re.I)
GLUED = re.compile(rf"\s?(?P<q>{QUOTE})?")

# A phrase of words, to the end of its line; and a pair that has its value in front of its name.
PHRASE = re.compile(
    rf"(?:{QUOTE}|\*\*)?(?:\s(?:for|of|to|on)(?:\s[\w.@/\-]{{1,40}}){{1,4}}?(?=\s?[:=]))?(?:\s?(?:(?:is|are|was):?|:|=|\||>|是|为|は|ist|est|es|è|é)\s{{0,8}}|\s{{2,40}})(?:{QUOTE})?(?P<v>(?:[a-z]{{3,12}}[0-9]{{0,4}}[ ]){{2,23}}[a-z]{{3,12}}[0-9]{{0,4}})(?=\s*(?:$|\n|\\n|{QUOTE}|[.,;<|]))",
    re.I,
)
BEHIND = re.compile(
    r"(?:(?:^|[\s\"'`(])(?P<v>[^\s\"'`()]{5,200})[\"'`]?\s(?:as|is|was)\s(?:(?:the|my|our|your|its|a|an)\s)?(?:\w{1,20}\s){0,2}"
    r"|(?:^|\s)(?:is|was|isn't)\s[\"'`]?(?P<v2>[^\s\"'`()]{5,200})[\"'`]?[^\S\n](?:(?:still|really|not|even)\s)?(?:the|my|our|your|its|a|an)\s(?:\w{1,20}\s){0,2}"
    r"|(?:^|[\s用以把将「“])(?P<v4>[A-Za-z0-9_\-!@#$%^&*+.=~]{5,200})[」”]?\s?(?:作为|做|当|當|作為|当作|を|当成)\s?(?:\w{0,6}的)?$"
    r"|(?:^|[\s\"'`])(?P<v3>[^\s\"'`()]{5,200})[\"'`]?\s\((?:\w{1,12}\s){0,2})$",
    re.I,
)
# One word that somebody is told to use, and what may stand behind the name then.
USED_AS = re.compile(
    r"(?i)(?:^|[\s\"'(])(?:us(?:e|es|ed|ing)|try|enter|type|set|put)\s[\"'`]?[A-Za-z]{5,40}[\"'`]?\sas\s(?:(?:the|my|our|your|its|a|an)\s)?(?:\w{1,20}\s){0,2}$"
)
SAID = re.compile(r"[\"'`]?(?:\s?[.,;:!)]|\s*(?:\n|\\n|$)|\s(?:for|and|then|now|here|there|on|in|until)\s)")
TURNED = re.compile(
    rf"(?:{QUOTE})?\b{_PAIR_NAMES}(?:{QUOTE})?\s{{0,4}}[:=]\s{{0,4}}(?P<q>\\{{0,7}}[\"'])(?P<v>[^\"'\\\n]{{1,200}})(?P=q)\s{{0,20}}[,;]?\s{{0,40}}"
    rf"(?:{QUOTE})?(?:name|key|variable|env|id|field|parameter|header)(?:{QUOTE})?\s{{0,4}}[:=]\s{{0,4}}(?:{QUOTE})?[\w.\-]{{0,40}}$",
    re.I,
)

# The value of a block: YAML's | and >, a here-document.
BLOCK = re.compile(rf"(?:{QUOTE})?\s?:\s?(?:!\w{{1,20}}\s)?[|>][+\-]?[0-9]?[ \t]*\r?\n(?P<indent>[ \t]{{1,40}})(?=\S)")
HEREDOC = re.compile(r"\s?(?:=|:|<<<?|=>)?\s{0,3}<<[-~]?\s?[\"']?(?P<tag>[A-Z_a-z]{2,20})[\"']?[^\n]{0,80}\n")
TRIPLE = re.compile(r"\s?[:=]\s?[rbf]?(?P<tag>\"\"\"|''')\s?")
