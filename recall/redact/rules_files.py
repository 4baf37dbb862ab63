"""Files, devices and consoles of a known form: what stands where in them is a secret."""

from .rule import QUOTE, Rule
from .rules_context import _ARG, _END, _LINE, _WORD, _argument, _rule, _shape, _value
from .values import has_digit, has_letter, is_public_id, is_reference, looks_random, looks_secret, mixed

_STORES = (
    r"secrets?|passwords?|passwd|token|login|auth\w*|credentials?|env\sadd|variable\sset|vault|keyring|keychain|pass\sinsert|secret-tool|"
    r"kubeseal|sops|age|gpg|op\s|bw\s|wrangler|vercel|flyctl|fly\s|heroku|netlify|railway|doppler|su\b|sudo|smbpasswd|cryptsetup|kinit|htpasswd|openssl|base64"
)


def _piped(value: str) -> bool:
    value = value.replace("\\n", "").strip()
    return _argument(value) and " " not in value and (_shape(value) or looks_secret(value)) and "/" not in value[:1]


def _device(value: str) -> bool:
    return len(value) >= 4 and not is_reference(value, False) and not (value.isalpha() and value.islower())


FILE_RULES: tuple[Rule, ...] = (
    _rule(
        "piped to a store of secrets",
        "secret",
        "echo |printf |<<<",
        rf"(?:echo|printf)\s(?:-\w{{1,3}}\s|[\"']?%s(?:\\n)?[\"']?\s){{0,2}}(?P<q>\\?[\"']?)(?P<v>[^\"'\n|$`]{{6,400}}?)(?P=q)\s{{0,4}}\|\s{{0,4}}[^\n|]{{0,100}}?\b(?:{_STORES})",
        _piped,
    ),
    _rule(
        "password of a device",
        "password",
        "secret |password |key |key-string |pre-shared-key |encrypted-password |passphrase |wpa-psk |shared-secret |md5 ",
        r"(?:secret|password|pre-shared-key|key|key-string|psk|encrypted-password|passphrase|wpa-psk|shared-secret|md5)\s(?:level\s\d{1,2}\s)?(?:(?:[05-9]|ascii(?:-text)?|hexadecimal|hex|encrypted|cipher|simple|plain|clear|plaintext|hash|sha256|sha512)\s)(?:[05-9]\s)?[\"']?(?P<v>[^\s\"';]{4,200})",
        _device,
    ),
    _rule(
        "community of a device",
        "password",
        "snmp-server |snmp ",
        rf"snmp(?:-server)?\s(?:[\w\-]{{1,20}}\s){{0,3}}community\s{_ARG}{_WORD}",
        lambda v: _argument(v) and v not in ("string", "public", "private", "name"),
    ),
    _rule(
        "community by a word of its own",
        "password",
        "rocommunity |rwcommunity |com2sec ",
        r"(?:r[ow]community6?|com2sec6?\s\S{1,40}\s\S{1,60})\s(?P<v>\S{4,80})",
        lambda v: _argument(v) and has_digit(v),
    ),
    _rule(
        "printed by a generator",
        "generated-secret",
        "openssl rand|pwgen|token_hex|token_urlsafe|token_bytes|genkey|genpsk|/dev/urandom|mkpasswd|apg |generate_secret|randombytes|generate-key|key:generate|rails secret|gen-secret|generate_key|random_password|makepasswd|ulid|diceware|bw generate|keygen",
        rf"(?:openssl\srand|pwgen|token_(?:hex|urlsafe|bytes)|wg\sgen(?:key|psk)|/dev/u?random|mkpasswd|makepasswd|apg\s|generate_secret|randombytes|generate-key|key:generate|rails\ssecret|gen-secret|generate_key|bw\sgenerate|operator\skeygen|keygen\s-[a-z]){_LINE}{{0,160}}(?:\r?\n|\\n)[ \t]{{0,8}}[\"']?(?P<v>[^\s\"'\\<>$]{{12,200}})(?=[\"']?[ \t]*(?:\r?\n|\\n|$|<))",
        lambda v: not is_public_id(v) and (looks_random(v) or looks_secret(v)),
    ),
    _rule(
        "key of a login without a password",
        "token",
        "-u |--user ",
        rf"(?<!\S)(?:-u|--user)[ =]{_ARG}(?P<v>[^\s:\"'\\$<>{{}}]{{14,2000}}):(?=[\s\"'\\]|$)",
        lambda v: looks_random(v) or mixed(v),
    ),
    _rule(
        "cookie of a cluster",
        "cookie",
        "-setcookie|--cookie |.erlang.cookie",
        rf"(?:-setcookie|--(?:erlang-)?cookie|\.erlang\.cookie\s{{0,4}}(?:\n|<<<?|:)?)\s{{0,4}}{_ARG}(?P<v>[A-Za-z0-9_\-+/=]{{8,200}})(?![\w=])",
        lambda v: has_letter(v) and len(set(v)) > 4,
    ),
    _rule(
        "printed by a vault",
        "vault-token",
        "unseal key|root token|recovery key",
        rf"(?:unseal\skey(?:\s\d{{1,2}})?|(?:initial\s)?root\stoken|recovery\skey(?:\s\d{{1,2}})?)(?:{QUOTE}|\*\*)?\s?(?:\([^()\n]{{1,20}}\))?\s?[:=|]\s{{0,8}}(?:{QUOTE})?(?P<v>{_END}{{8,200}})",
        lambda v: _shape(v) or looks_secret(v),
    ),
    _rule(
        "user and secret of a peer",
        "password",
        "chap-secrets|pap-secrets|server secret|secret ip",
        rf"(?:(?:chap|pap)-secrets|client\s+server\s+secret){_LINE}{{0,80}}(?:\n#[^\n]{{0,200}}){{0,4}}(?:\n|\\n)[ \t]{{0,8}}[\"']?[\w.@*\-\\]{{1,60}}[\"']?\s{{1,20}}[\"']?[\w.*\-]{{1,60}}[\"']?\s{{1,20}}[\"']?(?P<v>[^\s\"'#]{{3,200}})",
        _value,
        8,
    ),
    _rule(
        "set by a task",
        "password",
        "chpasswd|passwd:|password hash|user -p|usermod|useradd|--password",
        rf"(?:chpasswd[^\n]{{0,40}}\n(?:\s{{0,12}}[\w]+:\s?[^\n]{{0,30}}\n){{0,2}}?\s{{0,12}}(?:list:\s?\|?-?\s{{0,20}})?(?:-\s)?[\w.\-]{{1,40}}:|(?:usermod|useradd)\s{_LINE}{{0,100}}?(?:-p|--password)[ =]){_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "argument named by its command",
        "secret",
        "put-parameter|put-secret|create-secret|secret set|secrets set|secret create|secrets add|secret put|config:set|secrets versions|keyvault secret|variable set|secret-tool|add-generic-password|add-internet-password",
        rf"(?:put-parameter|put-secret\w*|put-secret-value|create-secret|secrets?\s(?:set|create|add|put)|config:set|secrets\sversions|keyvault\ssecret|variable\sset|add-(?:generic|internet)-password){_LINE}{{0,300}}?\s(?:--(?:value|secret-string|secret|data|body|plain-text|text|from-literal=[\w.\-]{{1,60}})(?:[ =])|-w\s|-b\s|--body=){_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "key of a server of logins",
        "password",
        "tacacs|radius|isakmp",
        r"(?:tacacs|radius|isakmp)[\w\-. ]{0,80}?\s(?:key|secret)\s(?:[0-9]\s)?[\"']?(?P<v>[^\s\"';]{4,200})",
        lambda v: _argument(v) and not v.islower(),
    ),
    _rule(
        "key of a tunnel",
        "password",
        ": psk |: eap |: xauth |: ntlm ",
        r": (?:psk|eap|xauth|ntlm) [\"']?(?P<v>[^\s\"']{3,200})",
        _value,
    ),
    _rule(
        "user and secret of any peer",
        "password",
        '" * "|\t*\t',
        r"(?:\" \* \"|\t\*\t)[\"']?(?P<v>[^\s\"'*]{3,200})[\"']?(?=\s{1,8}(?:\*|[0-9.]{7,15}|$))",
        _value,
    ),
    _rule(
        "literal of a secret",
        "kubernetes-secret",
        "--from-literal",
        rf"--from-literal[= ]{_ARG}[\w.\-]{{1,80}}={_WORD}",
        _argument,
    ),
    _rule(
        "phrase of a new key",
        "password",
        "ssh-keygen|ssh-add",
        rf"ssh-keygen\b{_LINE}{{0,300}}?\s-[NP]\s?{_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "password set by a call",
        "password",
        "password(|passwd(|pwd(",
        r"(?:passwo?r?d|pwd)\(\s?[\"'][^\"'\n]{1,80}[\"'],\s?(?P<q>[\"'])(?P<v>(?:(?!(?P=q))[^\n]){3,200})(?P=q)",
        lambda v: _value(v) and _shape(v),
    ),
    _rule(
        "login of a sql console",
        "url-password",
        "connect |conn |sqlplus ",
        r"(?:^|[\s;>\"'`])(?:conn(?:ect)?|sqlplus)\s{1,4}(?:-\w{1,3}\s){0,3}[\"']?[\w$#.\-]{1,40}/[\"']?(?P<v>[^\s/@\"']{3,100})[\"']?@(?=[\w/(])",
        _value,
        1,
    ),
    _rule(
        "wrong in an answer",
        "api-key",
        "incorrect|invalid|unknown|wrong|bad |rejected",
        rf"(?:incorrect|invalid|unknown|wrong|bad|rejected)\s(?:\w{{1,20}}\s){{0,2}}?(?:key|token|password|secret|credentials?)\s?(?:provided|given|supplied|used|value|id)?\s?[:=(]\s?(?:{QUOTE})?(?P<v>{_END}{{8,400}})",
        lambda v: looks_secret(v.rstrip(".,)")) and has_digit(v) and not is_public_id(v) and not is_reference(v, False),
    ),
    _rule(
        "key of a signer",
        "secret",
        "jwt.sign(|jwt.verify(|jwt.encode(|jwt.decode(|createhmac(|createcipheriv(|createdecipheriv(|hmac.new(|fernet(|urlsafetimedserializer(|cookieparser(|.signwith(|hmac.digest(|hash_hmac(",
        r"(?:jwt\.(?:sign|verify|encode|decode)\((?:[^\n\"'`(){}]{1,80}|\{[^\n{}]{0,200}\}),\s?|create(?:hmac|(?:de)?cipheriv)\(\s?[\"'`][\w\-]{1,30}[\"'`],\s?"
        r"|hash_hmac\(\s?[\"'][\w\-]{1,30}[\"'],\s?[^\n\"',]{1,80},\s?|(?:hmac\.(?:new|digest)|fernet|urlsafetimedserializer|cookieparser|\.signwith)\(\s?)"
        r"(?:[bru]{1,2}(?=[\"'])|buffer\.from\(\s?)?(?P<q>[\"'`])(?P<v>(?:(?!(?P=q))[^\s\\]){8,400})(?P=q)",
        lambda v: _value(v) and (has_digit(v) or _shape(v)),
    ),
    _rule(
        "login of a telephone",
        "url-password",
        "sip:|sips:",
        r"(?<![\w.\-])sips?:[\w.\-+]{1,60}:(?P<v>[^\s:@/\"'<>]{3,100})@(?=[\w\[])",
        _value,
    ),
    _rule(
        "key of a weather service",
        "url-token",
        "openweathermap.org",
        r"openweathermap\.org/[^\s\"'`<>]{0,300}?[?&]appid=(?P<v>[0-9a-f]{32})(?![0-9a-f])",
        None,
    ),
    _rule(
        "token of a package source",
        "token",
        'github-oauth|gitlab-oauth|gitlab-token|forgejo-token|bearer"',
        r"(?:git(?:hub|lab)-(?:oauth|token)|forgejo-token|bearer)\\?\"\s{0,4}:\s{0,4}\{(?:[^{}]{0,400}?,)?\s{0,40}\\?\"[\w\-]{1,60}(?:\.[\w\-]{1,60}){1,5}(?::\d{1,5})?\\?\"\s{0,4}:\s{0,4}\\?\"(?P<v>[^\s\"\\]{16,400})",
        lambda v: not is_reference(v, True),
    ),
    _rule(
        "login with a pair",
        "password",
        "登录|登陆|登錄|ログイン|로그인",
        r"(?<![A-Za-z0-9_.@\-/])[A-Za-z0-9_.@\-]{1,16}\s?/\s?(?P<v>[^\s/，。、\"'`\u3040-\u9fff\uac00-\ud7a3]{6,24})\s?(?:来|去|で|로|으로)?\s?(?:登录|登陆|登錄|ログイン|로그인)",
        lambda v: _value(v) and has_digit(v) and has_letter(v),
        40,
    ),
)
