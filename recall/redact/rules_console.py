"""What consoles show: the output of commands that print a secret, prompts of protocols, codes that arrive by message."""

import re

from .rule import QUOTE, Rule
from .rules_context import _ARG, _END, _LINE, _WORD, _argument, _rule, _shape, _value
from .values import entropy, has_digit, has_letter, is_public_id, is_reference, looks_random, looks_secret, mixed

_NL = r"(?:\r?\n|\\r\\n|\\n)"
_NAMED = r"[\w.\-/~]{0,60}(?:pass(?:word|wd|phrase)?|pwd|secrets?|tokens?|api[_\-]?key|credentials?|auth|private[_\-]?key)[\w.\-/]{0,40}"
_SHOWN = rf"(?:{_NL})(?:Out\[\d{{1,4}}\]:\s|=>\s)?[ \t]{{0,4}}(?P<v>(?:(?<=[\"'])|[^\s\"'\\<>$|]){{1}}[^\s\"'\\<>|]{{5,400}})(?=[\"']?[ \t]*(?:\r?\n|\\r|\\n|$))"
_COMMANDS = (
    r"op\sread\s\S{4,200}|op\sitem\sget\s[^\n]{4,200}|aws\ssecretsmanager\sget-secret-value[^\n]{4,300}|aws\sssm\sget-parameters?\b[^\n]{4,300}|"
    r"gcloud\ssecrets\sversions\saccess[^\n]{4,200}|gcloud\sauth\s(?:application-default\s)?print-(?:access|identity)-token[^\n]{0,100}|"
    r"vault\s(?:kv\sget|read)\s[^\n]{0,60}-field[= ][^\n]{2,200}|security\sfind-(?:generic|internet)-password\s[^\n]{2,200}|gh\sauth\stoken[^\n]{0,60}|"
    r"az\skeyvault\ssecret\sshow[^\n]{4,200}|az\saccount\sget-access-token[^\n]{4,200}|terraform\soutput\s[^\n]{0,60}-raw\s[^\n]{2,80}|"
    r"kubectl\s(?=[^\n]{0,300}(?:secret|token|base64))[^\n]{0,300}(?:base64|jsonpath|go-template|create\stoken)[^\n]{0,200}|[^\n]{0,200}\|\s?base64\s(?:-d|-D|--decode)[^\n]{0,40}|"
    r"sops\s(?:-d|--decrypt|decrypt)\s[^\n]{2,120}|doppler\ssecrets\sget\s[^\n]{2,120}|bw\sget\spassword\s[^\n]{2,80}|lpass\sshow\s[^\n]{2,120}|"
    r"heroku\sauth:token|heroku\sconfig:get\s\S{2,80}[^\n]{0,40}|oc\swhoami\s(?:-t|--show-token)|aws\secr\sget-login-password[^\n]{0,100}|secret-tool\slookup\s[^\n]{2,120}|"
    r"keyring\sget\s[^\n]{2,80}|argocd\s[^\n]{0,60}initial-password[^\n]{0,60}|docker-credential-\w+\sget|npm\stoken\screate[^\n]{0,60}"
)

_READERS = (
    r"pass\s(?:show\s)?[\w.@/\-]{2,80}|"
    rf"(?:cat|head|tail|type|less|bat|more)\s(?:-\w+\s){{0,2}}{_NAMED}|(?:echo|printenv|print|printf)\s[\"']?\$?\{{?{_NAMED}\}}?[\"']?"
)


def _printed(value: str) -> bool:
    """A line that is nothing but a value of which nobody would think that it is a word, a path or an id."""
    return (
        len(value) >= 8
        and not is_public_id(value)
        and not is_reference(value, False)
        and (looks_random(value) or looks_secret(value))
        and not re.fullmatch(r"[\w.\-]+(?:/[\w.\-]+)+|[A-Za-z]+\(.*|\d[\d.:,\-]*|[\w\-]+:", value)
    )


def _base32(value: str) -> bool:
    groups = re.split("[ -]", value)
    return (
        (value.isupper() or value.islower()) and has_digit(value) and has_letter(value) and len("".join(groups)) >= 16
    )


def _braced(value: str) -> bool:
    return re.fullmatch(r"[\w.\[\]()\"'!:]*", value) is None or (has_digit(value) and looks_random(value))


CONSOLE_RULES: tuple[Rule, ...] = (
    _rule(
        "printed by a command",
        "printed-secret",
        "op read|op item|secretsmanager|get-parameter|secrets versions|print-access-token|print-identity-token|-field|find-generic-password|"
        "find-internet-password|auth token|keyvault secret|get-access-token|output -raw|base64 -|jsonpath|go-template|create token|sops |doppler secrets|"
        "bw get|lpass |auth:token|config:get|whoami |get-login-password|secret-tool|keyring get|initial-password",
        rf"(?:^|(?<=\n)|(?<=\\n)|(?<=[$#>%;&|(] )|(?<=\+ ))(?:{_COMMANDS}){_SHOWN}",
        _printed,
        200,
    ),
    _rule(
        "printed by a reader of files",
        "printed-secret",
        "pass |cat |head |tail |less |echo |printenv ",
        rf"(?<![\w\-./])(?:{_READERS})[ \t]{{0,4}}{_SHOWN}",
        _printed,
    ),
    _rule(
        "printed by an interpreter",
        "printed-secret",
        ">>> |in [|irb",
        rf"(?:>>>\s|in\s\[\d{{1,4}}\]:\s|irb[^\n>]{{0,40}}>\s)(?:(?:print|puts|p|repr|str|console\.log)[ (]\s?)?(?:[\w.]{{1,30}}[.\[(][\"']?)?{_NAMED}[\"']?\]?(?:\(\))?\)?[ \t]{{0,4}}{_NL}(?:Out\[\d{{1,4}}\]:\s|=>\s)?[bu]?[\"']?(?P<v>[^\s\"'\\<>]{{6,400}})(?=[\"']?[ \t]*(?:\r?\n|\\n|$))",
        lambda v: _value(v) and (looks_secret(v) or looks_random(v)) and "(" not in v,
    ),
    _rule(
        "substituted by a shell",
        "secret",
        "<(echo|<(printf",
        rf"<\((?:echo|printf)\s(?:-\w\s|%s\s)?{_ARG}{_WORD}",
        lambda v: _argument(v) and looks_secret(v),
    ),
    _rule(
        "command that says the password",
        "password",
        "-command",
        rf"pass(?:word|phrase)?-?command[= ]{_ARG}(?:echo|printf)\s(?:-\w\s|%s\s)?{_ARG}{_WORD}",
        _argument,
        12,
    ),
    _rule(
        "answer to a prompt in base64",
        "basic-auth",
        "ugfzc3dvcmq6",
        rf"ugfzc3dvcmq6{_NL}(?:[CS]: |[<>\-]{{1,3}} ?)?(?P<v>[A-Za-z0-9+/]{{4,400}}={{0,2}})(?=\s|\\|$)",
        lambda v: len(v) >= 4,
    ),
    _rule(
        "imap login",
        "password",
        "login ",
        r"(?:^|\n|\\n|[CS>]: |> )\w{1,8}\slogin\s(?:\"[^\"\n]{1,80}\"|[^\s\"]{1,80})\s\"?(?P<v>[^\s\"'\\]{3,200})(?=\"?(?:\s*\r?\n|\\r|\s*$))",
        lambda v: _argument(v) and (has_digit(v) or mixed(v)),
        14,
    ),
    _rule(
        "redis auth on the wire",
        "password",
        "auth\\r\\n|auth\n|auth\r\n",
        rf"auth{_NL}(?:\$\d{{1,4}}{_NL}[\w.\-]{{1,40}}{_NL})?\$\d{{1,4}}{_NL}(?P<v>[^\s\\]{{3,400}})",
        lambda v: not is_reference(v, False),
    ),
    _rule(
        "words before a password",
        "password",
        "auth-pass |auth-user |input_pw |user_pw |owner_pw |rootpw |set-password ",
        rf"(?:auth-pass\s\S{{1,80}}|auth-user\s\S{{1,80}}|(?:input|user|owner)_pw|rootpw(?:\s--?\w{{1,20}}){{0,3}}|set-password\s\S{{1,80}})\s{{1,4}}{_ARG}{_WORD}",
        lambda v: _argument(v) and not v.startswith("--"),
    ),
    _rule(
        "user of snmp",
        "password",
        "auth sha|auth md5|priv aes|priv des|createuser ",
        rf"(?:\b(?:auth|priv)\s(?:sha|md5|aes|des)[\w\-]{{0,4}}(?:\s\d{{3}})?|createuser\s\S{{1,60}}\s(?:sha|md5)[\w\-]{{0,4}})\s{_ARG}{_WORD}",
        lambda v: _argument(v) and has_digit(v),
    ),
    _rule(
        "privacy key of snmp",
        "password",
        "createuser ",
        rf"createuser\s\S{{1,60}}\s(?:sha|md5)[\w\-]{{0,4}}\s(?:\"[^\"\n]{{1,100}}\"|\S{{1,100}})\s(?:aes|des)[\w\-]{{0,4}}\s{_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "client with its password",
        "password",
        "smbclient |psexec|paexec",
        rf"(?:smbclient\s[\"']?(?://|\\\\)\S{{1,120}}\s(?!-)|p[sa]exec\S{{0,8}}\s{_LINE}{{1,200}}?\s-p\s){_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "pairs put into a store of secrets",
        "secret",
        "secrets set|secret set|secrets put|secrets import|kv put|kv patch|secrets add|config:set|env set",
        rf"(?:secrets?\s(?:set|put|import|add)|kv\s(?:put|patch)|config:set|env\sset)\s(?:--?[\w\-]{{1,30}}(?:=\S{{1,60}})?\s|[\w./\-]{{1,120}}\s){{0,4}}[\w.\-]{{1,60}}={_ARG}{_WORD}",
        lambda v: _argument(v) and not v.startswith("@") and (looks_secret(v) or looks_random(v)),
    ),
    _rule(
        "shared key for a code",
        "totp-secret",
        "key|secret|app:|code:",
        rf"(?:key|secret|app|code)(?:{QUOTE}|\*\*)?(?:\s(?:is|in|into|to|for|your|the|app|authenticator|manually|code)){{0,6}}(?:{QUOTE}|\*\*)?\s?[:=]?\s{{1,4}}(?:{QUOTE})?(?P<v>[A-Za-z2-7]{{4}}(?:[ \-][A-Za-z2-7]{{4}}){{3,15}})(?![A-Za-z0-9])",
        _base32,
    ),
    _rule(
        "code in a message",
        "otp",
        "code is|code:|otp is|otp:|passcode is|passcode:",
        r"(?<![\w\-])(?:your|the|verification|security|login|sign-?in|confirmation|one-time|access|authentication|2fa|sms)\s(?:(?!exit|status|error|return|response|zip|postal|area|country|http|source|promo)[\w\-]{1,20}\s){0,3}(?:code|otp|passcode)(?:\sis:?|:)\s{1,4}(?P<v>(?:G-)?\d{3,4}[ \-]?\d{3,4}|\d{4,8})(?![\w%])",
        None,
        60,
    ),
    _rule(
        "code that opens",
        "pin",
        "unlock code|unlocking code|lock code|door code|gate code|alarm code|locker code|garage code|puk code|activation code|pairing code|voicemail code|解锁码|开锁码|门禁码|开门码",
        rf"(?:(?:unlock(?:ing)?|lock|door|gate|alarm|locker|garage|puk|activation|pairing|voicemail)\scode(?:\s(?:for|of|to|on)(?:\s[\w'’\-]{{1,20}}){{1,4}}?)?(?:\s(?:is|was)(?:\snow)?:?|\s?[:=])|(?:解锁|开锁|门禁|开门)码\s?(?:是|为|:|=)?)"
        rf"\s{{0,4}}(?:{QUOTE})?(?P<v>\d{{4,10}}[#*]?|(?-i:(?=[A-Z\-]*\d)(?=[\d\-]*[A-Z])[A-Z0-9]{{3,8}}(?:-[A-Z0-9]{{2,8}}){{0,5}}))(?![\w%\-])",
        None,
    ),
    _rule(
        "code that is yours",
        "otp",
        "is your",
        r"(?<![\w.\-])(?P<v>(?:G-)?\d{4,8})(?=\sis\syour\s(?:[\w\-]{1,20}\s){0,5}(?:code|otp|pin|passcode|password))",
        None,
        12,
    ),
    _rule(
        "assertion of a login",
        "saml-assertion",
        "samlresponse|samlrequest|samlart|assertion|wresult|code=|id_token",
        rf"(?:(?<![\w\-])(?:saml(?:response|request|art)|client_assertion|assertion|wresult|id_token)(?:{QUOTE})?(?:\s(?:type|id)=\S{{1,30}})?\s{{0,4}}(?:=|:|%3d|value=)\s{{0,4}}(?:{QUOTE})?|(?<![\w\-&?.])(?:code|device_code|auth_code)=(?=[^\s&]{{16,600}}&\w))(?P<v>[A-Za-z0-9+/%=_\-.]{{16,20000}})",
        lambda v: (
            has_digit(v[:300])
            and entropy(v[:300]) > 3
            and not is_public_id(v)
            and not re.fullmatch(r"[A-Za-z_.]+\d{0,2}", v)
        ),
    ),
    _rule(
        "password in braces",
        "password",
        "pwd={|password={|pwd = {|password = {",
        r"(?:pwd|password)\s?=\s?\{(?P<v>(?:[^{}\n\"']|\{[^{}\n]{0,40}\}|\}\}){3,200})\}(?=;|\"|'|\s|$)",
        _braced,
    ),
    _rule(
        "dump of accounts",
        "password-hash",
        ":::",
        r"(?<![\w:])[\w.\\$@\-]{1,60}:\d{1,10}:(?P<v>[0-9a-fA-F]{32}:[0-9a-fA-F]{32}):::",
        None,
        140,
    ),
    _rule(
        "protected by the system",
        "password-hash",
        "01000000d08c9ddf|aqaaancmnd8bfderj",
        rf"(?<![\w+/])(?P<v>(?:01000000d08c9ddf[0-9a-f]{{20,}}|AQAAANCMnd8BFdERj[A-Za-z0-9+/]{{20,}}={{0,2}})){_END}?",
        None,
    ),
    _rule(
        "encrypted by ansible",
        "ansible-vault",
        "$ansible_vault;",
        rf"\$ansible_vault;[\d.]{{1,6}};aes\d{{0,3}}(?:;[\w.\-]{{1,60}})?(?P<v>(?:(?:{_NL}|[ \t>|+]){{1,40}}[0-9a-f]{{32,}}){{1,400}}(?:(?:{_NL}|[ \t>|+]){{1,40}}[0-9a-f]{{4,}}(?=\s|\\|\"|$))?)",
        None,
    ),
    _rule(
        "secrets of a connection",
        "password",
        "vpn.secrets",
        r"vpn\.secrets:[ \t]{0,60}[\w \-]{1,40}\s?=\s?(?P<v>[^\n]{3,400})",
        lambda v: not is_reference(v, False) and "<hidden>" not in v,
    ),
    _rule(
        "accounts of a first boot",
        "password",
        "list:|users:",
        rf"(?:list|users):\s{{0,4}}[\[\"']{{1,2}}[\w.\-]{{1,40}}:{_ARG}{_WORD}(?=[\"'\\\n])",
        lambda v: _argument(v) and "/" not in v,
    ),
    _rule(
        "login of a tunnel",
        "password",
        "auth-user-pass>",
        rf"<(?:auth-user-pass|http-proxy-user-pass)>{_NL}[^\n]{{1,80}}?{_NL}(?P<v>[^\n<\\]{{1,200}}?)(?={_NL}</)",
        None,
        2,
    ),
    _rule(
        "credentials in a sentence",
        "password",
        "credentials |creds |logins |ログイン|パスワード|密码|密碼",
        rf"(?:(?:credentials?|creds|logins?)\s(?:are|is|were|were\sset\sto)\s(?:{QUOTE})?[\w.@\-+]{{1,60}}(?:{QUOTE})?\s(?:and|with|/)\s(?:{QUOTE})?|"
        rf"ログイン(?:は|:|：)\s?[\w.@\-+]{{1,60}}\s?[/／と]\s?|(?:id|ユーザー名?|アカウント)(?:と|/|・)パスワード(?:は|:|：)?\s?[\w.@\-+]{{1,60}}\s?[/／と、,]\s?|"
        rf"(?:用户名|账号|帐号|帳號)(?:和|与|/|、)密[码碼](?:分别)?(?:是|为|:|：)?\s?[\w.@\-+]{{1,60}}\s?[和与/、,，]\s?)(?P<v>[^\s\"'`,;)/。、]{{4,100}}?)(?=[\s\"'`,;)。、]|で|です|だ|$)",
        lambda v: _argument(v) and _shape(v.rstrip(".")),
        24,
    ),
)  # fmt: skip
