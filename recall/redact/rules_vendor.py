"""Tokens that a vendor marks with a prefix or a form of their own: they are recognised without a name beside them.

Lengths are lower bounds: a form that is cut or that grew is still a secret. A prefix of one or two letters asks for a body
that is random; a long, distinct prefix does not.
"""

import re
from collections.abc import Callable

from .rule import BOUNDARY, Rule
from .values import dense, mixed

_END = r"(?![A-Za-z0-9])"
Check = Callable[[str], bool]
# A body that begins with so many characters that can stand in a word.
_LEAST = re.compile(r"\[(?:[A-Za-z0-9]-[A-Za-z0-9]|[A-Za-z0-9_]|\\-|-(?=\]))+\]\{(?P<n>[0-9]+)[,}]")


def _token(kind: str, prefixes: str, body: str, check: Check = mixed, name: str = "") -> Rule:
    """A token that begins with one of the prefixes; all of it is the secret."""
    anchors = tuple(prefixes.split())
    pattern = f"{BOUNDARY}(?P<v>(?:{'|'.join(map(re.escape, anchors))}){body})"
    least = _LEAST.match(body)
    return Rule(
        name or f"{kind} {anchors[0]}", kind, anchors, re.compile(pattern), check, least=int(least["n"]) if least else 0
    )


def _form(name: str, kind: str, anchors: str, pattern: str, check: Check | None = mixed, back: int = 0) -> Rule:
    return Rule(name, kind, tuple(anchors.split()), re.compile(pattern), check, back=back)


W = "[A-Za-z0-9_]"
D = r"[A-Za-z0-9_\-]"
X = "[0-9a-fA-F]"
A = "[A-Za-z0-9]"

VENDOR_RULES: tuple[Rule, ...] = (
    # code hosts, builds, registries
    _token("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", W + "{16,}+"),
    _token("github-token", "github_pat_", W + "{20,}+"),
    _token(
        "gitlab-token",
        "glpat- gldt- glrt- glptt- glcbt- glft- glsoat- glimt- glagent- gloas- glffct- GR1348941",
        r"[A-Za-z0-9_\-]{16,}+(?:\.[A-Za-z0-9_\-]{1,40}){0,3}",
    ),
    _token("bitbucket-token", "ATBB", A + "{20,}+"),
    _token("bitbucket-token", "BBDC-", r"[A-Za-z0-9+/@_\-]{20,}+"),
    _token("atlassian-token", "ATATT ATCTT ATSTT", r"[A-Za-z0-9_\-=]{20,}+"),
    _token("npm-token", "npm_", A + "{20,}+"),
    _token("pypi-token", "pypi-", D + "{32,}+"),
    _token("crates-token", "cio", A + "{28,}+", dense),
    _token("rubygems-token", "rubygems_", A + "{20,}+"),
    _token("nuget-key", "oy2", "[a-z0-9]{40,}+"),
    _token("docker-token", "dckr_pat_ dckr_oat_ dckr_pat", D + "{16,}+"),
    _token("packagist-token", "packagist_", W + "{30,}+"),
    _token("clojars-token", "CLOJARS_", A + "{30,}+"),
    _token("hex-key", "hexpm_ HEXPM_", W + "{20,}+"),
    _token("buildkite-token", "bkua_ bkaj_ bkct_ bkpt_", A + "{20,}+"),
    _token("circleci-token", "CCIPAT_ CCIPRJ_", r"[A-Za-z0-9_\-]{20,}+"),
    _token("sonar-token", "sqp_ squ_ sqa_", A + "{20,}+"),
    _token("jfrog-token", "AKCp AKCP", A + "{20,}+"),
    _token("jfrog-token", "cmVmdGtuOj", A + "{20,}+"),
    _token("jenkins-secret", "{AQAAABAAAA", r"[A-Za-z0-9+/=]{20,}+\}?"),
    _token("semgrep-token", "semgrep_ sgp_ slk_", W + "{30,}+"),
    _token("snyk-token", "snyk_uat. snyk_sat.", r"[A-Za-z0-9_.\-]{20,}+"),
    _token("codecov-token", "codecov_", W + "{20,}+"),
    _token("nx-token", "nx_ct_ nxc_", W + "{20,}+"),
    _token("sourcegraph-token", "sgp_ sgd_ slk_ sgamp_", W + "{30,}+", name="sourcegraph"),
    _token("gitea-token", "gta_ gto_ forgejo_", W + "{20,}+"),
    # clouds
    _token(
        "aws-access-key",
        "AKIA ASIA AROA AIDA ABIA ACCA AGPA ANPA",
        "[A-Z0-9]{12,}+" + _END,
        lambda v: not v.isalpha() or len(v) == 20,
    ),
    _form(
        "aws secret beside its id",
        "aws-secret-key",
        "AKIA ASIA",
        r"(?:AKIA|ASIA)[A-Z0-9]{12,20}[^A-Za-z0-9/+][\s\S]{0,120}?(?<![A-Za-z0-9/+=])(?P<v>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])",
        lambda v: re.fullmatch("[0-9a-f]+", v) is None and v.lower() != v and mixed(v),
    ),
    _token("aws-bedrock-key", "ABSKQmVkcm9ja0FQSUtleS bedrock-api-key-", r"[A-Za-z0-9+/=]{20,}+"),
    _token("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"[A-Za-z0-9+/=%]{20,}+"),
    _token("gcp-api-key", "AIza", D + "{24,}+"),
    _token("gcp-api-key", "AQ.Ab8", D + "{20,}+"),
    _token("google-oauth", "GOCSPX-", D + "{16,}+"),
    _token("google-oauth", "ya29.", r"[A-Za-z0-9_\-.]{20,}+"),
    _token("google-oauth", "1//0", D + "{24,}+"),
    _token("google-oauth", "4/0A", D + "{24,}+"),
    _form(
        "google hmac id",
        "gcp-hmac-key",
        "GOOG1E GOOG",
        BOUNDARY + r"(?P<v>GOOG[A-Z0-9]{18,60})" + _END,
        lambda v: mixed(v),
    ),
    _form(
        "azure client secret",
        "azure-client-secret",
        "Q~",
        BOUNDARY + r"(?P<v>[A-Za-z0-9_~.\-]{3}[0-9]Q~[A-Za-z0-9_~.\-]{20,44})",
        back=4,
    ),
    _form(
        "azure marked key",
        "azure-key",
        "+ASt AzFu AzCa ACDb AzSe AIoT JQQJ99",
        r"(?<![A-Za-z0-9+/])(?P<v>[A-Za-z0-9+/]{20,100}(?:\+ASt|AzFu|AzCa|\+ACDb|AzSe|AIoT|JQQJ99)[A-Za-z0-9+/]{4,60}={0,2})",
        back=100,
    ),
    _token("alibaba-key", "LTAI", A + "{12,}+" + _END),
    _token("tencent-key", "AKID", A + "{16,}+" + _END),
    _token("volcengine-key", "AKLT AKAP", r"[A-Za-z0-9+/=]{20,}+"),
    _token("baidu-key", "bce-v3/ALTAK- ALTAK", r"[A-Za-z0-9/\-]{16,}+"),
    _token("huawei-key", "HPUA", "[A-Z0-9]{16,}+"),
    _token("yandex-key", "AQVN YCAJ YCN y0_ t1.9eu", r"[A-Za-z0-9_.\-=]{24,}+", dense),
    _token("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_ dos_v1_", A + "{20,}+"),
    _token("heroku-key", "HRKU-", D + "{20,}+"),
    _token("cloudflare-token", "cfut_ cfat_ cfk_ v1.0-", r"[A-Za-z0-9_\-]{24,}+", dense),
    _token("fastly-token", "fastly_", W + "{20,}+"),
    _token("vercel-token", "vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_", W + "{16,}+"),
    _token("netlify-token", "nfp_ nfc_ nfo_ nfu_ nfb_", A + "{20,}+"),
    _token("supabase-key", "sbp_ sb_secret_ sbs_", W + "{16,}+"),
    _token("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[A-Za-z0-9_.\-=]{20,}+"),
    _token("neon-key", "napi_ npg_", A + "{12,}+", dense),
    _token("databricks-token", "dapi dkea dsapi", "[0-9a-f]{28,}+(?:-[0-9])?"),
    _token("fly-token", "FlyV1 fo1_ fm1r_ fm2_", r"\s?[A-Za-z0-9_+/=\-,]{20,}+"),
    _token("railway-token", "railway_", W + "{20,}+"),
    _token("render-key", "rnd_", A + "{16,}+"),
    _token("scaleway-key", "SCW", "[A-Z0-9]{16,20}" + _END),
    _token("ibm-key", "ApiKey-", D + "{30,}+"),
    _token("linode-token", "lin_tok_", A + "{20,}+"),
    _token("vultr-key", "VULTR", "[A-Z0-9]{20,}+"),
    _token("hetzner-token", "hcloud_", A + "{20,}+"),
    _token("upstash-key", "upstash_", W + "{20,}+"),
    _token("cockroach-key", "CCDB1_", W + "{20,}+"),
    _token("turso-token", "turso_", W + "{20,}+"),
    _token("convex-key", "prod: dev:", r"[a-z]+-[a-z]+-[0-9]{1,4}\|[A-Za-z0-9+/=]{20,}+"),
    # infrastructure
    _token("vault-token", "hvs. hvb. hvr.", r"[A-Za-z0-9_\-]{20,}+"),
    _form(
        "vault old token",
        "vault-token",
        "s. b. r.",
        BOUNDARY + r"(?P<v>[sbr]\.[A-Za-z0-9]{24,90})(?!\.?[A-Za-z0-9_(])",
        dense,
    ),
    _form(
        "terraform cloud",
        "terraform-token",
        ".atlasv1.",
        BOUNDARY + r"(?P<v>[A-Za-z0-9]{8,20}\.atlasv1\.[A-Za-z0-9_=\-]{16,}+)",
        back=20,
    ),
    _token("pulumi-token", "pul-", "[0-9a-f]{20,}+"),
    _token("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[A-Za-z0-9_.\-]{16,}+"),
    _token("1password-token", "ops_", r"[A-Za-z0-9_\-+/=]{40,}+"),
    _form(
        "1password secret key",
        "1password-token",
        "A3-",
        BOUNDARY + r"(?P<v>A3-[A-Z0-9]{6}-(?:[A-Z0-9]{4,11}-){2,4}[A-Z0-9]{5})" + _END,
    ),
    _token("tailscale-key", "tskey-", D + "{12,}+"),
    _token("age-key", "AGE-SECRET-KEY-1 AGE-PLUGIN-", "[A-Z0-9]{20,}+", lambda v: True),
    _token("okta-token", "00", r"[A-Za-z0-9_\-]{40}" + _END, lambda v: dense(v) and v.lower() != v and v.upper() != v),
    _token("teleport-token", "teleport_", W + "{20,}+"),
    _token("infisical-token", "st.", r"[0-9a-f]{8}[0-9a-f\-]{10,30}\.[0-9a-f.]{20,}+"),
    _token("bitwarden-token", "0.", r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\.[A-Za-z0-9]{20,}+:?[A-Za-z0-9+/=]*"),
    _token("kubeconfig-token", "kubeconfig-u- kubeconfig-user- token-", r"[a-z0-9]{5,12}:[a-z0-9]{40,}+"),
    _form("kubeadm bootstrap", "kubernetes-token", "--token", r"--token[= ](?P<v>[a-z0-9]{6}\.[a-z0-9]{16})", None),
    _form("swarm join", "docker-token", "SWMTKN-", BOUNDARY + r"(?P<v>SWMTKN-[0-9]-[a-z0-9\-]{30,})"),
    _form(
        "wireguard or base64 key line",
        "private-key",
        "PrivateKey PresharedKey",
        r"(?:PrivateKey|PresharedKey)\s{0,4}=\s{0,4}(?P<v>[A-Za-z0-9+/]{42,44}={0,2})",
    ),
)
