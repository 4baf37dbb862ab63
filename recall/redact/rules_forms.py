"""Forms that are recognised by their end, their middle or their neighbours rather than by a vendor's prefix."""

import re

from .rule import BOUNDARY, Rule
from .rules_vendor import _END, A, D, X, _form, _token
from .values import camel, dense, entropy, has_digit, has_letter, is_public_id, issued, mixed


def _path_key(value: str) -> bool:
    """The last part of an address that is a key: long and random, and no commit, no digest, no name."""
    return (
        mixed(value)
        and entropy(value) > 3.3
        and re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}|[A-Za-z]+[0-9]{0,4}", value) is None
        and dense(value.replace("-", "").replace("_", ""))
    )


# Prefixes that no word ends with: a token with one of them is one also where it is glued to a word, or broken by a line.
_DISTINCT = (
    "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_ glpat- gldt- glrt- glptt- sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-v1- sk_live_ sk_test_ "
    "rk_live_ rk_test_ whsec_ xoxb- xoxp- xoxa- xoxr- xoxs- xapp- npm_ pypi- dckr_pat_ rubygems_ dop_v1_ doo_v1_ shpat_ shpss_ lin_api_ "
    "figd_ sntrys_ glsa_ nvapi- pplx- gsk_ xai- tskey- hvs. GOCSPX- PMAK- sq0atp- NRAK- ATATT3x AIza pscale_tkn_ nfp_ sbp_ apify_api_"
)
_ANY_DISTINCT = "|".join(map(re.escape, _DISTINCT.split()))
# So long are the tokens that have one length: what stands on the line below a whole one is something else.
_CUT = r"(?:gh[pousr]_[A-Za-z0-9]{0,35}|npm_[A-Za-z0-9]{0,35}|AIza[A-Za-z0-9_\-]{0,34}|glpat-[A-Za-z0-9_\-]{0,19}|sk-or-v1-[0-9a-f]{0,63}|dop_v1_[0-9a-f]{0,63})"
_BREAK = r"[ \t]{0,2}\\?(?:\r?\n|(?:\\r)?\\n){1,2}[ \t>|+]{0,8}"


def _broken(value: str) -> bool:
    """A token with a line end in it: its last part is no word, no name and no id of something else."""
    first, *_, last = re.split(r"(?:\\[rn]|[\s>|+\\])+", value)
    return len(first) + len(last) >= 24 and rest_of_token(last)


def rest_of_token(value: str) -> bool:
    return (
        len(value) >= 5
        and (issued(value) or (has_digit(value) and has_letter(value) and len(value) < 24 and not value.isupper()))
        and not is_public_id(value)
        and dense(value * 3 if len(value) < 12 else value)
        and re.fullmatch(r"[A-Za-z]+[0-9]{1,4}|[0-9]+[A-Za-z]{1,2}|v?[0-9][\w.\-]{0,8}|[a-z]+(?:[_-][a-z0-9]+)*", value)
        is None
    )


FORM_RULES: tuple[Rule, ...] = (
    _form(
        "token glued to a word",
        "glued-token",
        _DISTINCT,
        rf"(?<=[A-Za-z0-9])(?P<v>(?:{_ANY_DISTINCT})[A-Za-z0-9_\-]{{20,}}(?<!-))",
        lambda v: dense(v) and mixed(v),
    ),
    _form(
        "aws id glued to a word",
        "aws-access-key",
        "AKIA ASIA",
        r"(?<=[a-z_])(?P<v>A[KS]IA[A-Z0-9]{16})" + _END,
        has_digit,
    ),
    _form(
        "token over the end of a line",
        "broken-token",
        _DISTINCT,
        rf"(?P<v>(?:{_CUT}|(?!gh[pousr]_|npm_|AIza|glpat-|sk-or-v1-|dop_v1_)(?:{_ANY_DISTINCT})[A-Za-z0-9_\-]{{0,100}}){_BREAK}[A-Za-z0-9_\-]{{5,120}}+)(?=[\s\"'`,;)]|$|\\n)",
        _broken,
    ),
    _form(
        "rest of a token on the next line",
        "token-rest",
        "token# -key# session#",
        r"\[REDACTED:[a-z0-9\-]{0,30}(?:token|-key|session)#[0-9]{1,5}\]"
        + _BREAK
        + r"(?P<v>[A-Za-z0-9_\-]{10,120}+)(?=[\"'`]|[ \t]*(?:\r?\n|$|\\n)|(?<=[A-Za-z0-9_\-]{20})\s)",
        lambda v: issued(v) and rest_of_token(v) and not camel(v),
        back=45,
    ),
    _form("ledger key in bech32", "ledger-key", "nsec1", BOUNDARY + r"(?P<v>nsec1[02-9ac-hj-np-z]{50,}+)"),
    _token("runpod-key", "rpa_", A + "{24,}+"),
    _token("aws-bedrock-key", "ABSK", r"[A-Za-z0-9+/]{60,}+={0,2}", mixed, "bedrock, short"),
    _token("dingtalk-secret", "SEC", "[0-9a-f]{60,68}" + _END),
    _token("fireworks-key", "fw_", A + "{20,}+", mixed, "fireworks, long"),
    _token("mercadopago-token", "APP_USR- TEST-", r"[0-9]{10,20}-[0-9]{6}-[0-9a-f]{32}(?:-[0-9]{4,12})?", mixed),
    _token("django-key", "django-insecure-", r"[^\s\"'`\\<>]{20,}+", lambda v: True),
    _form("newrelic licence", "newrelic-key", "NRAL", r"(?<![A-Za-z0-9])(?P<v>[0-9a-f]{28,40}NRAL)" + _END, back=40),
    _form(
        "k3s node token",
        "k3s-token",
        "::server: ::node:",
        r"(?<![A-Za-z0-9])(?P<v>K1[0-9a-f]{40,70}::(?:server|node):[A-Za-z0-9.]{8,})",
        back=72,
    ),
    _form(
        "firebase server key",
        "fcm-key",
        ":APA91b",
        r"(?<![A-Za-z0-9])(?P<v>[A-Za-z0-9_\-]{8,14}:APA91b[A-Za-z0-9_\-]{60,})",
        back=14,
    ),
    _form("rapidapi key", "rapidapi-key", "msh", r"(?<![A-Za-z0-9])(?P<v>[A-Za-z0-9]{10}msh[A-Za-z0-9]{14,16}p[0-9a-z]{6,7}jsn[0-9a-z]{10,14})", back=10),
    _form(
        "signed cookie of a server", "cookie", "s%3A s:", BOUNDARY + r"(?P<v>s(?:%3A|:)[A-Za-z0-9_\-]{20,}+\.[A-Za-z0-9%+/_\-]{20,}+)"
    ),
    _form("postgres hash", "password-hash", "md5", r"(?<=[\"' ])(?P<v>md5[0-9a-f]{32})" + _END, None),
    _form(
        "key at the end of an address",
        "url-token",
        "://",
        r"://[\w.\-:]{3,120}/(?:[\w.\-]{1,30}/){0,5}?(?:v[0-9]|rpc|ws|hooks?|webhooks?|services|key|token|api|bot|ext|feeds?|ical|private|catch|ingest|incoming|invite|s|jsonrpc|hook)/"
        r"(?:[A-Za-z0-9]{6,12}/){0,2}(?P<v>" + D + r"{24,90})(?=/?(?:\.(?:ics|json|xml|rss))?(?![\w./\-]))",
        _path_key,
    ),
    _form(
        "key of a chain's node",
        "url-token",
        ".alchemy.com/ alchemyapi.io/ infura.io/ .quiknode.pro/ rpc.ankr.com/ .chainstack.com/ .getblock.io/ .blastapi.io/ moralis",
        r"\.?(?:alchemy\.com|alchemyapi\.io|infura\.io|quiknode\.pro|ankr\.com|chainstack\.com|getblock\.io|blastapi\.io|moralis\w{0,20}\.com)/(?:[a-z0-9_]{1,20}/){0,3}(?P<v>[A-Za-z0-9_\-]{20,90})",
    ),
    _form(
        "oracle login with its host",
        "url-password",
        ":1521 :1522 :1526 %3A152 %3a152",
        r"(?<![\w/.:@\-])(?:%[0-9A-Fa-f]{2})*[\w$#.]{1,40}(?:/|%2[Ff]|\\/)(?P<v>[^\s/@\"'<>]{3,100})(?:@|%40)(?:/{2})?[\w.\-]{2,120}(?::|%3[Aa])15[0-9]{2}(?![0-9])",
        lambda v: not v.startswith(("$", "{", "<", "%s")),
        back=280,
    ),
    _form(
        "issued value masked for a log",
        "masked-value",
        "::add-mask:: issecret=true] issecret=true;",
        r"(?:::add-mask::|issecret=true;?\])(?P<v>[^\s\"'`\\<>]{4,400})",
        lambda v: not v.startswith(("$", "{", "%")),
    ),
    _form("hex behind a chain's sign", "ledger-key", "0x", r"(?<![A-Za-z0-9])0x(?P<v>" + X + r"{64})(?=[\"']?\s{0,3}(?:\)|,|;)?\s{0,3}(?:#|//)\s{0,3}(?:private|secret|deployer))", mixed),
)  # fmt: skip
