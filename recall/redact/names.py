"""Whether a name says that its value is secret: ``DB_PASS`` does, ``password_field`` and ``max_tokens`` do not.

A name is split into its words (snake, kebab, dots, camel). The last word that matters decides, after endings such as
``_PROD`` or ``2`` are taken off. Four strengths come back: 3, the name leaves no doubt; 2, the value has to look like a
secret as well; 1, a secret word is in there somewhere and the value has to look random; 0, a key of a
table as often as an issued one, and the value has to have the form of an issued key.
"""

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Name:
    kind: str
    strength: int


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Sought in the folded text; every name that can be secret has one of these in it.
NAME_ANCHORS = (
    "pass", "pwd", "passwd", "secret", "token", "key", "auth", "cred", "cookie", "session", "sessid", "pin", "otp", "dsn",
    "sas", "psk", "salt", "mnemonic", "seed", "signature", "_sk", "_sig", "_pw", "pw", "_pat", "jwt", "bearer", "sid", "cvv",
    "kennwort", "mdp", "clave", "senha", "wachtwoord", "hasło", "haslo", "lösenord", "losenord", "parola",
    "şifre", "sifre", "salasana", "adgangskode", "heslo", "jelszó", "mật khẩu", "пароль", "пароля", "токен", "ключ",
    "contraseña", "密码", "密碼", "口令", "密钥", "密鑰", "令牌", "凭证", "憑證", "凭据", "私钥", "パスワード", "トークン", "秘密鍵", "キー",
    "暗証番号", "シークレット", "認証情報", "合言葉", "비밀번호", "암호", "토큰", "秘钥", "passcode", "verification", "验证码", "recovery", "pfx", "webhook",
    "chave", "chiave", "clé", "llave", "segredo", "secreto", "segreto", "jeton", "geheim", "schlüssel", "schluessel", "sleutel", "klucz",
    "community", "mot de passe", "identifiant", "助记词", "助記詞", "フレーズ", "frase", "фраз", "мнемо", "니모닉", "시드", "シード", "아이디키", "키", "鍵", "秘密", "비밀", "salasana", "パス",
    "驗證碼", "认证码", "認証コード", "確認コード", "인증번호", "인증코드",
    "parol", "สผ่าน", "كلمة", "סיסמה", "κωδικός", "пасс", "lozinka", "geslo", "parool",
)  # fmt: skip

# Joined words that leave no doubt wherever a name ends with them.
_CERTAIN = {
    "password": "mdp password passwd passphrase passcode passwort kennwort contrasena contrasenya senha wachtwoord haslo losenord sifre "
    "salasana adgangskode heslo requirepass masterauth storepass keypass userpass dbpass rootpass mysqlpass adminpass "
    "smtppass mailpass ftppass sshpass sshpassword sudopass rootpw bindpw ldappw adminpw userpw dbpw mysqlpw becomepass "
    "wepkey wepkeya loginpass authpass redispass proxypass basicauthpass passwrd passw0rd pword motdepasse wordpass bindpasswd pwd lozinka",
    "secret": "secret secretkey clientsecret appsecret apisecret consumersecret webhooksecret signingsecret sharedsecret "
    "sharedsecretkey jwtsecret cookiesecret sessionsecret secretkeybase hmacsecret secretaccesskey totpsecret otpsecret",
    "api-key": "apikey appkey accesskey authkey subscriptionkey consumerkey servicekey accountkey storagekey licensekey "
    "licencekey serverkey sharedaccesskey sharedkey functionkey functionskey adminkey devkey apikeys appapikey integrationkey "
    "instrumentationkey writekey ingestkey ingestionkey accesskeysecret partnerkey apptoken apisecretkey secretapikey",
    "private-key": "privatekey privkey sshkey signingkey encryptionkey decryptionkey cryptkey masterkey hmackey jwtkey aeskey "
    "sshprivatekey tlskey rsakey pgpkey gpgkey fernetkey kmskey rootkey unsealkey deploykey hostkeypriv encryptkey keymaterial "
    "secretsigningkey cipherkey railsmasterkey appsigningkey vapidprivatekey pskkey wpapsk presharedkey privateencryptionkey "
    "recoverykey appmasterkey",
    "token": "accesstoken refreshtoken authtoken authtokens bearertoken apitoken sessiontoken idtoken bottoken usertoken "
    "csrftoken xsrftoken oauthtoken deploytoken personalaccesstoken securitytoken jwttoken roottoken registrationtoken "
    "devicetoken runnertoken vaulttoken npmtoken githubtoken ghtoken gitlabtoken pypitoken webhooktoken servicetoken "
    "connectiontoken sastoken verificationtoken joinToken clienttoken secrettoken xauthtoken resettoken accesstokens",
    "session": "phpsessid jsessionid aspsessionid connectsid sessionkey sessioncookie authcookie sessidcookie",
    "connection-string": "connectionstring connstr connstring databaseurl",
    "mnemonic": "mnemonic seedphrase recoveryphrase mnemonicphrase secretphrase",
    "credential": "usercredential clientcredential basicauth dockerauth npmauth proxyauth htpasswd",
}
_CERTAIN_ENDINGS = tuple(
    sorted(
        ((word.lower(), kind) for kind, words in _CERTAIN.items() for word in words.split()), key=lambda p: -len(p[0])
    )
)
_ENDS_AS = re.compile("(?:" + "|".join(re.escape(word) for word, _ in _CERTAIN_ENDINGS) + ")$")
_KIND_OF = dict(_CERTAIN_ENDINGS)

# A last word that is secret only together with what stands before it, or with a value that looks like one.
_DOUBTFUL = {
    "pass": "password", "pw": "password", "pin": "pin", "otp": "otp", "totp": "otp", "cvv": "pin",
    "auth": "credential", "cred": "credential", "creds": "credential", "credential": "credential",
    "credentials": "credential", "cookie": "cookie", "cookies": "cookie", "token": "token", "key": "key", "keys": "key",
    "salt": "salt", "dsn": "connection-string", "sas": "sas", "psk": "password", "sk": "secret",
    "session": "session", "sessid": "session", "sid": "session", "pat": "token", "jwt": "token",
    "bearer": "token", "seed": "seed", "secrets": "secret", "passwords": "password", "tokens": "token", "clave": "password",
    "parola": "password", "login": "credential", "code": "code", "pwds": "password", "pfx": "private-key", "pepper": "salt",
    "chave": "api-key", "chiave": "api-key", "clé": "api-key", "cle": "api-key", "llave": "api-key", "schlüssel": "api-key",
    "schluessel": "api-key", "sleutel": "api-key", "klucz": "api-key", "segredo": "secret", "secreto": "secret", "segreto": "secret",
    "jeton": "token", "geheimnis": "secret", "community": "password", "geheim": "secret", "identitytoken": "token",
    "parol": "password", "geslo": "password", "parool": "password", "pswd": "password", "psw": "password",
}  # fmt: skip

# The value is about the secret, not the secret.
_ABOUT = _set(
    "count counts type types name names url urls uri path paths file files filename filepath dir dirs folder length len size "
    "limit limits budget budgets usage cost costs price window max min field fields input inputs label labels placeholder title "
    "hint hints policy policies rule rules manager provider service handler store helper util utils factory class model schema "
    "prompt prompts reset error errors exception message messages msg regex regexp pattern format validator validation expiry "
    "expires expired expire exp ttl expiration age at date time timestamp created updated ids index idx kind list map ref refs "
    "reference arn endpoint issuer audience scope scopes mode method enabled disabled required optional exists present valid "
    "visible visibility strength score generator version algorithm alg algo curve bits prefix suffix header headers param params "
    "parameter var variable storage cache bucket counter rate used left remaining total estimate estimator stream delta chunk "
    "chunks embedding embeddings mask vocab s check checks checker status state exchange flow grant callback hook hooks event "
    "events listener change changed changes changer dialog form page screen view link button icon modal component props rotation "
    "rotate manager manage owner user username group role roles by binding bindings test tests spec docs doc description note "
    "comment comments example examples template help info data? columns column table row rows map maps mapper parser parse reader "
    "writer source sources target process processor server client host port domain realm zone region algorithm? request requests "
    "response responses bytes? spaces budget usages step steps match matches press pressed down up code codes? bindings handler "
    "board pad stroke frame frames word? words phrase? attempts retries retry length fn func function cmd command agent sock "
    "socket context result results line lines hash? detector scanner redactor pipe vault? per sec second seconds minute day month "
    "difference saved saving savings counts sum avg average mean ratio percent fraction"
)
_ABOUT_KEY = _set("key id fingerprint thumbprint aad pub public")

# The name is a question, an action or a number.
_LEADING = _set(
    "is has have had can should no not without max min num n total count show hide forgot forget require requires required allow "
    "enable enabled disable missing invalid valid verify validate check use uses supports need needs want parse get fetch load "
    "read find create generate make build compute hash compare encode decode delete remove revoke refresh rotate issue prompt "
    "count skip strip redact mask input output prompt completion cached reasoning cache if on handle ask next page pagination "
    "continuation sync cursor pad eos bos unk stop special start end sep cls image audio text thinking billable"
)
_LEADING_OK = _set("refresh cache get input reset page")

# A key of a table, of a database, of the keyboard; and what is public.
_PLAIN_KEY = _set(
    "recv receive primary foreign public pub sort partition cache object dict map row group hot shortcut registry host dedupe dedup idempotency "
    "i18n translation locale json config enum query lookup index unique composite arrow react list item property prop data "
    "schema field entity node cell column table json yaml toml xml html css style theme menu tab enter escape esc return space "
    "shift control ctrl alt meta cmd function fn home end del delete insert page up down left right any answer natural surrogate "
    "candidate partial shard routing metric label tag event message msg translation order search filter route state context "
    "storage redis? session? local last first next prev previous current? parent child root? sub this that same each every "
    "other new old which what kv feature flag option setting settings i18 params param arg args kwarg attr attribute attributes "
    "value result error err status type name id user? time date num int str bool default known hosts ssh2 join on by major minor "
    "musical off turn low high on in is physical press keyboard layer bin scan virtual named dictionary hash obj tool file path "
    "doc document input output model agent command cmd action thread run step test temp tmp topic chunk entry placement"
)

_ISSUED_KEY = _set("primary secondary storage context integration flag shared message tag")

# Endings that say where or which, not what.
_WHERE = _set(
    "prod production dev development test testing stage staging live old new current default value val str string text raw plain "
    "plaintext b64 base64 hex enc encrypted primary secondary backup main admin master slave local remote ci qa uat demo sandbox "
    "v temp tmp next previous confirm confirmation again repeat env global internal external here eu us asia a b one two "
    "bytes data literal clear cleartext"
)

_SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-zà-ž]+|[A-Z]+|[0-9]+")
_FOREIGN = re.compile(
    r"助记词|助記詞|フレーズ|мнемо|니모닉|パスコード|パスフレーズ|暗号|暗証|密码|密碼|口令|パスワード|暗証番号|合言葉|비밀번호|암호|парол|пасс|hasło|lösenord|şifre|jelszó|mật khẩu|contraseña|คลุม|สผ่าน|كلمة|סיסמה|κωδικός"
)
_FOREIGN_TOKEN = re.compile(
    r"(?:접근|비밀|개인|인증|API\s?)키|シード|시드|秘密|API鍵|アクセスキー|密钥|密鑰|秘钥|私钥|令牌|凭证|憑證|凭据|トークン|秘密鍵|シークレット|認証情報|토큰|токен|ключ|APIキー|キー$"
)


_FOREIGN_CODE = re.compile(r"验证码|驗證碼|认证码|認証コード|確認コード|인증번호|인증코드")


@lru_cache(maxsize=8192)
def judge(name: str) -> Name | None:
    """The kind and strength of a name, None where it does not say secret."""
    if not name.isascii():
        if name in ("키", "鍵", "キー"):
            # a key of the keyboard as well
            return Name("api-key", 2)
        if _FOREIGN.search(name.lower()):
            return Name("password", 3)
        if _FOREIGN_CODE.search(name):
            return Name("otp", 2)
        if _FOREIGN_TOKEN.search(name):
            return Name("secret", 3)
    words = [word.lower() for word in _SPLIT.findall(name)]
    whole = "".join(words)
    while words and (words[-1].isdigit() or (words[-1] in _WHERE and len(words) > 1)):
        words.pop()
    if not words:
        return None
    joined = "".join(words)
    if words[0] in _LEADING and len(words) > 1 and not (words[0] in _LEADING_OK and _ENDS_AS.search(joined)):
        return None
    certain = _ENDS_AS.search(joined)
    if certain is not None:
        kind = _KIND_OF[certain.group()]
        return _certain(kind, certain.group(), words)
    last = words[-1]
    if last in _DOUBTFUL:
        return _doubtful(words, name)
    for glued, kind in (("token", "token"), ("key", "key"), ("passw", "password")):
        if (
            last.endswith(glued)
            and last != glued
            and len(words) == 1
            and whole.startswith(("api", "auth", "access", "private"))
        ):
            return Name("api-key" if kind == "key" else kind, 3)
    return _trailing(words)


def _certain(kind: str, ending: str, words: list[str]) -> Name | None:
    if ending == "secret" and words == ["secret"]:
        return Name(kind, 3)
    if ending in ("storagekey", "hostkey") and words[0] in ("local", "session"):
        return None
    if ending in ("connectionstring", "connstr", "connstring", "databaseurl"):
        return Name(kind, 1)
    if ending == "pwd" and words == ["pwd"]:
        return Name(kind, 2)  # the working directory of a shell is called PWD as well
    if len(words) > 1 and words[-2:] == ["public", "key"]:
        return None
    return Name(kind, 3)


def _doubtful(words: list[str], name: str) -> Name | None:
    last, before = words[-1], words[:-1]
    kind = _DOUBTFUL[last]
    if last in ("key", "keys"):
        if not before:
            return Name("api-key", 0) if last == "key" else None
        if before[-1] == "routing":
            return Name("api-key", 1)
        if before[-1] in _PLAIN_KEY:
            return Name("api-key", 0) if before[-1] in _ISSUED_KEY else None
        return Name("api-key", 2)
    if last in ("pass", "pw", "psw", "pswd", "psk", "parola", "clave", "geslo", "parool", "parol"):
        if before and before[-1] in (
            "by",
            "com",
            "sur",
            "second",
            "first",
            "one",
            "two",
            "single",
            "render",
            "did",
            "all",
            "multi",
            "pre",
            "post",
            "high",
            "low",
            "band",
            "back",
            "over",
            "under",
            "third",
            "last",
            "next",
            "per",
        ):
            return None
        return Name(kind, 3 if before or last == "psk" else 2)
    if last in ("passwords", "pwds"):
        return Name(kind, 3)
    if last == "community":
        return Name(kind, 2) if before and before[-1] in ("snmp", "ro", "rw", "read", "write", "trap") else None
    if last == "token":
        return Name(kind, 3 if before and not name.islower() else 2)
    if last in ("code",):
        ok = before and before[-1] in ("auth", "authorization", "verification", "otp", "mfa", "pin", "security", "backup",
                                       "recovery", "device", "login", "access", "sms", "2fa", "fa")  # fmt: skip
        return Name("otp", 2) if ok else None
    if last in ("tokens", "session", "seed", "login", "auth", "bearer"):
        return Name(kind, 1)
    if last == "sk" and (not before or name.islower()):
        return Name(kind, 1)
    if last == "pat" and (
        not before or before[-1] not in ("github", "gh", "gitlab", "azure", "devops", "ado", "access", "git", "api")
    ):
        return Name(kind, 1)
    return Name(kind, 2)


_INNER = {
    "password": "password", "passwd": "password", "pwd": "password", "passphrase": "password", "secret": "secret",
    "secrets": "secret", "tokens": "token", "passwords": "password", "token": "token", "apikey": "api-key", "credential": "credential", "credentials": "credential", "pass": "password",
}  # fmt: skip


def _trailing(words: list[str]) -> Name | None:
    """A secret word with an ending that is not known: weak, and only where the ending does not speak about it."""
    last = words[-1]
    if last == "hash" and len(words) > 1 and words[-2] in ("password", "passwd", "pwd", "pass"):
        return Name("password-hash", 2)
    if words == ["sessionid"]:
        return Name("session", 1)
    if last == "id" and len(words) > 1:
        if words[-2] in ("session", "sess"):
            return Name("session", 1)
        if words[-2:] == ["secret", "id"]:
            return Name("secret", 2)
        return None
    if last in _ABOUT or last in _ABOUT_KEY or last.endswith(("ers", "ors", "izer")):
        return None
    for index, word in enumerate(words[:-1]):
        if word in _INNER:
            return Name(_INNER[word], 1)
        if (
            word == "key"
            and index
            and words[index - 1] in ("api", "secret", "private", "access", "signing", "encryption")
        ):
            return Name("api-key", 1)
    return None
