"""Secrets that their surroundings give away: headers, addresses, protocols, SQL, files of a known form."""

import base64
import binascii
import re
from collections.abc import Callable

from .rule import QUOTE, Rule
from .values import has_digit, is_reference, is_weak_secret, looks_random, looks_secret, mixed

_END = r"[^\s\"'`\\<>&]"
_ARG = r"(?:\$?(?:\\{0,3}[\"']))?"
_WORD = r"(?P<v>(?:(?<=[\"'])[^\"'\n\\]{1,400}|[^\s\"'`<>|;&\\()]{1,400}))"


def _value(value: str) -> bool:
    return is_weak_secret(value, True) or (value.isdigit() and len(value) >= 4)


def _argument(value: str) -> bool:
    """An argument of a command: not a flag, a variable, a file."""
    return _value(value) and not value.startswith(("-", "$", "<", "/", "./", "~")) and not is_reference(value, False)


def _header(value: str) -> bool:
    bare = re.sub(r"(?i)^(?:bearer|basic|token|digest|apikey|key)\s+", "", value.strip())
    if len(bare) < 4 or is_reference(bare, False) or re.search(r"[$<{]\{?\w*[>}]?$|\$\{|\{\w|%s|<[\w ]+>|\*\*\*", bare):
        return False
    if re.match(
        r"[A-Za-z_][\w.]*[(\[]|(?:self|this|req|request|await|new)\b|[a-z]\w*\.[a-z]\w+\b", bare
    ) and not bare.startswith("eyJ"):
        return False  # a call, an attribute
    return looks_secret(bare) or "=" in bare or has_digit(bare)


def _bearer(value: str) -> bool:
    return (
        len(value) >= 8
        and not is_reference(value, False)
        and (has_digit(value) or (len(value) >= 16 and (mixed(value) or value.isalpha())))
    )


def _basic(value: str) -> bool:
    try:
        return b":" in base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False


def _userinfo(value: str) -> bool:
    return (
        not is_reference(value, False)
        and re.match(r"[0-9]{1,5}(?:[/?#]|$)", value) is None
        and not value.startswith("//")
    )


def _userinfo_alone(value: str) -> bool:
    return looks_random(value) and len(value) >= 10


def _query(value: str) -> bool:
    return looks_secret(value) and len(value) >= 8


def _cookie(value: str) -> bool:
    return (
        "=" in value
        and not re.search(r"\$\{|\{\w|<\w", value)
        and not is_reference(value.split("=", 1)[1].split(";")[0], False)
    )


def _shape(value: str) -> bool:
    return (
        looks_random(value)
        or looks_secret(value)
        or (has_digit(value) and len(value) >= 6 and any(map(str.isalpha, value)))
    )


def _rule(
    name: str, kind: str, anchors: str, pattern: str, check: Callable[[str], bool] | None = _argument, back: int = 0
) -> Rule:
    return Rule(name, kind, tuple(anchors.split("|")), re.compile(pattern, re.I), check, fold=True, back=back)


_LINE = r"(?:[^\n\\]|\\(?!n))"

CONTEXT_RULES: tuple[Rule, ...] = (
    # headers
    _rule(
        "authorization header",
        "auth-header",
        "authorization",
        rf"(?<![A-Za-z0-9])authorization(?:{QUOTE})?\]?\)?[ \t]{{0,8}}(?:[:,]|=(?![=])>?|->)[ \t]{{0,8}}[\[(]?(?:[bfur]?{QUOTE})?(?:(?:bearer|basic|token|digest|negotiate|ntlm|apikey|key|hawk|aws4-hmac-sha256|[A-Z][\w\-]{{1,30}})[ ]{{1,4}})?"
        r"(?P<v>(?:(?<![\"'\\])(?:digest|[^\"'`\\\r\n<>]{1,20}=\\?\"[^\"\n]{0,400}\"(?:,\s*)?)(?:[^\r\n\\']{0,2000})|[^\"'`\\\r\n<>]{3,4000}))",
        _header,
    ),
    _rule(
        "digest and signature parameters",
        "auth-header",
        "signature=|response=|oauth_signature|credential=",
        r"(?:\bsignature|\bresponse|oauth_signature|credential)=\\?[\"']?(?P<v>[A-Za-z0-9+/=%_\-]{16,}(?:/[\w/\-]+)?)",
        lambda v: mixed(v) or has_digit(v),
    ),
    _rule(
        "bearer in text",
        "bearer-token",
        "bearer",
        r"(?<![A-Za-z0-9_\-])bearer(?:\s{1,4}|%20|\+|[:=]\s?)(?:QUOTE)?(?P<v>[A-Za-z0-9_\-.~+/=%|:]{8,8000})".replace(
            "QUOTE", QUOTE
        ),
        _bearer,
    ),
    _rule(
        "basic in text",
        "basic-auth",
        "basic",
        r"(?<![A-Za-z0-9_\-])basic(?:\s{1,4}|%20)(?P<v>[A-Za-z0-9+/]{6,2000}={0,2})",
        _basic,
    ),
    _rule(
        "set-cookie header",
        "cookie",
        "set-cookie",
        rf"set-cookie2?(?:{QUOTE})?\s{{0,4}}[:=,]\s{{0,4}}(?:\[\s?)?(?:{QUOTE})?[^=;\s\"']{{1,100}}=(?P<v>[^;\s\"'\\]{{4,8000}})",
        lambda v: not is_reference(v, False) and len(v) > 3,
    ),
    _rule(
        "cookie header",
        "cookie",
        "cookie",
        rf"(?<![\w\-])cookie(?:(?:{QUOTE})?[ ]{{0,4}}[:=]|{QUOTE}[ ]?,)[ ]{{0,4}}(?:{QUOTE})?(?P<v>[\w.\-%]{{1,100}}=[^\r\n\"'`\\]{{3,8000}})",
        _cookie,
    ),
    _rule(
        "cookie argument",
        "cookie",
        "-b |--cookie",
        rf"(?<!\S)(?:-b|--cookie)[ =]{_ARG}(?P<v>[\w.\-]{{1,60}}=[^\s\"'\\;]{{4,8000}}(?:;\s?[\w.\-]{{1,60}}=[^\s\"'\\;]{{1,2000}}){{0,20}})",
        _cookie,
    ),
    _rule(
        "secret header",
        "api-key",
        "x-",
        r"(?<![\w\-])x-[\w\-]{0,40}(?:token|key|secret|auth|password|signature|session)\w{0,10}(?:QUOTE)?\]?\s{0,4}[:=,]\s{0,4}(?:[bfru]?QUOTE)?(?:(?:bearer|basic|token)\s)?(?P<v>[^\s\"'`\\<>,;\u3001-\u300f]{4,4000})".replace(
            "QUOTE", QUOTE
        ),
        lambda v: _value(v) and not is_reference(v.rstrip(")]};"), False),
    ),
    # addresses
    _rule(
        "password in an address",
        "url-password",
        "://|:\\/\\/|%3a%2f%2f",
        r"(?::(?://|\\/\\/)|%3a%2f%2f)[^\s:/@\"'<>?#`|]{0,200}(?::|%3a)(?P<v>[^\s\"'`<>/|]{1,300}|[^\s\"'`<>|]{1,300})(?:@|%40)(?=[\w\[.\-$(*])",
        _userinfo,
    ),
    _rule(
        "user alone in an address",
        "url-password",
        "://",
        r"://(?P<v>[A-Za-z0-9_\-.~%]{10,400})(?::x-oauth-basic|:)?@(?=[\w\[])",
        _userinfo_alone,
    ),
    _rule(
        "oracle address",
        "url-password",
        "jdbc:oracle",
        r"jdbc:oracle:\w{1,10}:[\w\-.$#]{1,60}/(?P<v>[^\s@\"'/]{1,100})@",
        _userinfo,
    ),
    _rule(
        "oracle login",
        "url-password",
        "sqlplus|sqlldr|expdp|impdp|rman target",
        r"(?:sqlplus|sqlldr|expdp|impdp|rman\s+target)\s(?:-\w+\s|userid=){0,3}[\"']?[\w\-.$#]{1,60}/(?P<v>[^\s@\"'/]{1,100})(?=[@\s\"']|$)",
        _argument,
    ),
    _rule(
        "query parameter",
        "url-token",
        "key=|pat=|sig=|code=|ticket=|signature=|auth=|sid=|pass=|pw=|pwd=|jwt=",
        r"(?:[?&;]|&amp;|%3f|%26)(?:amp;)?(?:[\w\-.]{0,30}(?:key|pat|sig|code|ticket|signature|auth|sid|pass|pw|pwd|jwt))(?:=|%3d)(?P<v>[^\s&\"'`<>#\\;|)\]}\u3001-\u300f]{4,4000})",
        _query,
        40,
    ),
    _rule(
        "signed address",
        "url-token",
        "x-amz-|x-goog-|sv=",
        r"(?:x-(?:amz|goog)-(?:signature|credential|security-token)(?:=|%3d)|\bsig=)(?P<v>[^\s&\"'`<>#\\\u3001-\u300f]{8,4000})",
        _query,
    ),
    _rule("wifi code", "password", "wifi:", r"wifi:[^\n]{0,80}?;?p:(?P<v>(?:[^;\n\\]|\\.){4,80});", _value),
    # protocols
    _rule(
        "redis auth",
        "password",
        "auth ",
        r"(?:^|[\n>\"'\]]\s{0,4}|\\n|\d>\s)(?:(?-i:AUTH)|(?<=> )auth(?=\s\S{1,40}\s))\s{1,4}(?:[\w.\-]{1,40}\s{1,4})?\\?[\"']?(?P<v>[^\s\"'`\\]{3,400})",
        lambda v: _argument(v) and v.upper() != v,
        8,
    ),
    _rule(
        "configuration by words",
        "password",
        "requirepass|masterauth|primaryauth|masteruser|bindpw|rootpw|userpassword",
        rf"(?:requirepass|masterauth|primaryauth|bindpw|rootpw|userpassword:?:?)(?:{QUOTE})?[\s,]{{1,20}}{_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "redis user",
        "password",
        "acl setuser|user ",
        r"(?<![\w.\-])(?:ACL\sSETUSER|user)\s\S{1,60}\s(?:on|off|[~+\-&@]\S{1,40})(?:\s[^\s>]\S{0,60}){0,8}\s>(?P<v>[^\s\"'\\]{3,200})",
        _argument,
    ),
    _rule(
        "netrc",
        "password",
        "machine |login ",
        r"(?:machine|login)\s{1,4}\S{1,200}\s{1,8}(?:login\s{1,4}\S{1,100}\s{1,8})?(?:account\s\S+\s{1,4})?password\s{1,8}(?:[\"'])?(?P<v>[^\s\"']{2,400})",
        _value,
    ),
    _rule(
        "ftp, pop and imap login",
        "password",
        "\npass |pass |user ",
        r"(?:^|\n|> |>>> |C: |-->\s?)(?:PASS|\w{1,6}\sLOGIN\s\S{1,80})\s(?P<v>[^\s\"']{3,200})(?=\r?\n|$|\\r)",
        lambda v: _argument(v) and v.upper() != v and "/" not in v,
        4,
    ),
    _rule(
        "sasl plain",
        "basic-auth",
        "auth plain|auth login|authenticate plain",
        r"auth(?:enticate)?\s(?:plain|login)\s(?P<v>[A-Za-z0-9+/]{8,400}={0,2})",
        mixed,
    ),
    _rule(
        "irc identify",
        "password",
        "identify|nickserv",
        r"(?:identify|nickserv\s\w+)\s(?:[\w\-]{1,30}\s)?(?P<v>\S{4,100})(?=\s*(?:\n|$))",
        lambda v: _argument(v) and has_digit(v),
    ),
    # sql
    _rule(
        "identified by",
        "password",
        "identified",
        rf"identified\s(?:with\s{QUOTE}?\w{{1,40}}{QUOTE}?\s)?(?:by|as|using)\s(?:password\s|values\s)?(?P<q>\\{{0,7}}[\"'])?(?P<v>(?(q)[^\"'`\\\n]{{1,400}}|(?=[^\s;`]*[0-9!@#$%^&*])(?=[^\s;]*;)[^\s;\"'`]{{5,200}}))",
        _value,
    ),
    _rule(
        "sql password",
        "password",
        "password",
        r"password(?:\sfor\s[^\n=]{1,80})?(?:\s{0,4}(?:=|to)\s{0,4}|\s{1,4})\(?[nN]?\\?'(?P<v>[^'\\\n]{1,400})\\?'",
        _value,
    ),
    _rule(
        "password function",
        "password",
        "password(|crypt(|encrypt(|digest(|md5(|sha1(|sha2(|sym_",
        r"(?:password|crypt|aes_encrypt|pgp_sym_(?:en|de)crypt|aes_decrypt)\((?:[^()'\n]{1,60},\s?)?'(?P<v>[^'\\\n]{3,200})'",
        lambda v: _value(v) and has_digit(v),
    ),
    # files
    _rule(
        "pgpass line",
        "password",
        ":5432:|:5433:|:6543:|:6432:|:*:|:3306:",
        r"(?:^|(?<=\n)|(?<=\s)|(?<=\"))(?:[^\s:\"']{1,200}):(?:[0-9]{4,5}|\*):[^\s:]{1,100}:[^\s:]{1,100}:(?P<v>(?:[^\s\\\"']|\\.){2,200})",
        lambda v: _argument(v),
        202,
    ),
    _rule(
        "npmrc auth",
        "npm-token",
        "_auth",
        rf"(?<![A-Za-z0-9])_auth(?:token)?(?:{QUOTE})?[ ]{{0,4}}[=: ][ ]{{0,4}}(?:{QUOTE})?(?P<v>[A-Za-z0-9+/=_\-.]{{6,2000}})",
        lambda v: not is_reference(v, False),
    ),
    _rule(
        "user and password with a slash",
        "password",
        "/pass|/ pass|/password|/pw|creds|credentials|login|logins|账号|账户|用户名|アカウント",
        rf"(?:(?:user(?:name)?|login|账号|账户|用户名)\s?/\s?(?:pass(?:word)?|pw|密码)|creds?|credentials?|logins?)(?:{QUOTE}|\*\*)?\s{{0,4}}(?:are|is|:|=|:|\()?\s{{0,4}}(?:{QUOTE})?(?!https?:)[\w.@\-+]{{1,60}}\s{{0,2}}[/::]\s{{0,2}}(?P<v>[^\s\"'`,;)/]{{3,100}})",
        lambda v: _argument(v) and _shape(v.rstrip(".")),
        12,
    ),
    _rule(
        "user and password in a sentence",
        "password",
        "log in as|login as|sign in as|log in with|login with|sign in with|logged in as|connect as|authenticate as|login:",
        r"(?:log(?:ged)?\s?in|sign\sin|connect|authenticate|login:?)\s(?:as|with)?\s?[\"'`]?[\w.@\-+]{1,60}[\"'`]?\s?(?:/|:|\swith|\sand)\s?[\"'`]?(?P<v>[^\s\"'`,;)]{4,100})",
        lambda v: _argument(v) and _shape(v.rstrip(".")) and not v.startswith("/"),
    ),
    _rule(
        "user and password to log in with, in Chinese",
        "password",
        "登录|登陆|登入",
        r"(?:用|使用|通过)\s?[\w.@\-+]{1,60}\s?/\s?(?P<v>[^\s\"'`,;)/，。]{4,60})\s?(?:就|即|便|来|去|也|都)?(?:可以?|能够?|行)?\s?(?:登录|登陆|登入)",
        lambda v: _argument(v) and _shape(v) and has_digit(v),
        140,
    ),
    _rule(
        "auth token behind an account's id",
        "twilio-key",
        "(\"ac|('ac",
        r"\([\"']AC[0-9a-f]{32}[\"'],\s{0,8}[\"'](?P<v>[0-9a-f]{32})[\"']",
    ),
    _rule(
        "chat robots' answer to a prompt",
        "password",
        "password for",
        r"password\sfor\s(?:'[^'\n]{1,120}'|\"[^\"\n]{1,120}\"|[^\n:]{1,120}):\s(?P<v>\S{3,200})",
        lambda v: _value(v) and _shape(v),
    ),
    _rule(
        "secure string",
        "password",
        "convertto-securestring",
        rf"convertto-securestring\s(?:-\w+\s){{0,3}}(?:-string\s)?{_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "network credential",
        "password",
        "credential(",
        r"(?:networkcredential|pscredential|usernamepasswordcredential\w*|usernamepasswordauthenticationtoken|basicauth\w*|httpbasicauth|auth)\(\s?[\"'][^\"'\n]{1,100}[\"'],\s?[\"'](?P<v>[^\"'\n]{1,200})[\"']",
        _value,
        40,
    ),
    _rule(
        "basic auth pair",
        "password",
        "auth=|auth(|basicauth|basic_auth|auth:|login(|connect(|authenticate(|credentials(|.login",
        r"(?:auth\w*|log_?in\w{0,12}|sign_?in\w{0,12}|connect|authenticate|credentials)\s?[=:(]\s?\(?\s?[\"'][\w.@\-+]{1,80}[\"'],\s?(?P<q>[\"'])(?P<v>(?:(?!(?P=q))[^\n ]){3,200})(?P=q)(?=\s?[),])",
        lambda v: _value(v) and (_shape(v) or v.count("-") >= 2 or re.search(r"[!@#$%^&*(|+=]", v) is not None),
        12,
    ),
    _rule(
        "connection by arguments",
        "password",
        "connect(|connection(",
        r"connect(?:ion)?\(\s?[^,()\n]{1,100},\s?[\"'][^\"'\n]{1,100}[\"'],\s?[\"'](?P<v>[^\"'\n]{3,200})[\"']",
        lambda v: _value(v) and has_digit(v),
    ),
    _rule(
        "expect sends",
        "password",
        "assword",
        r"assword[^\n]{0,60}?[\"'}]?[);]{0,2}(?:[\s,]|\\n){1,4}\{?\s{0,12}(?:[\w.]{1,30}\.)?(?:exp_)?(?:send(?:_?line)?|write)\s?\(?(?:--\s)?[bf]?\\?[\"'](?P<v>[^\"'\n\\$]{3,100})",
        _value,
    ),
    _rule("session in a path", "session", ";jsessionid", r";jsessionid=(?P<v>[A-Za-z0-9.!\-]{8,200})", None),
    _rule(
        "pin", "pin", "pin ", r"(?<![\w-])pin\s(?:code\s|number\s)?(?:is\s|was\s|:\s?)?(?P<v>[0-9]{4,8})(?![\w.])", None
    ),
)
