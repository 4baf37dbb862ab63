"""Secrets on command lines: the arguments and pipes in which known programs take a password or a token."""

import re

from .rule import Rule
from .rules_context import _ARG, _LINE, _WORD, _argument, _rule
from .values import has_digit, mixed

COMMAND_RULES: tuple[Rule, ...] = (
    _rule(
        "curl user",
        "password",
        "curl|http|wget|rest",
        rf"(?:curl|https?|httpie|xh|wget)\b{_LINE}{{0,600}}?\s(?:-u|--user|--proxy-user|-U|-a|--auth)(?:\s{{1,4}}|=|(?<=u)|(?<=U)){_ARG}[^\s:\"'\\]{{0,100}}:{_WORD}",
        _argument,
    ),
    _rule(
        "user argument",
        "password",
        "-u |--user ",
        rf"(?<!\S)(?:-u|--user)[ =]{_ARG}[\w.@\-+]{{1,80}}:{_WORD}",
        lambda v: _argument(v) and not v.isdigit(),
    ),
    _rule(
        "database client, glued",
        "password",
        "mysql|mariadb|mycli|7z |7za |rar |percona|mytop",
        rf"(?:mysql\w*|mariadb[\w\-]*|mycli|mytop|7z[arz]?|u?n?rar)\b{_LINE}{{0,400}}?\s-p(?![\s=])(?![a-z]+\s+-)(?![A-Za-z]*[=:]){_ARG}{_WORD}",
        lambda v: _argument(v) and v not in ("rotocol", "ort", "assword", "ager"),
    ),
    _rule(
        "login command",
        "password",
        "sshpass|docker |podman |mongo|cqlsh|rdesktop|helm |az |buildah |skopeo |nerdctl |oc login|cf login|impala-shell|jfrog |heroku login|crane auth|oras login|rabbitmqadmin|twine ",
        rf"(?<![\w\-])(?:sshpass|docker\s(?:-\S+\s)*login|podman\slogin|helm\s(?:registry\s)?(?:login|repo\sadd)|buildah\slogin|skopeo\slogin|nerdctl\slogin|oc\slogin|cf\slogin|az\s(?:acr\s)?login|az\s[a-z\- ]{{2,60}}|mongo\w*|cqlsh|rdesktop|impala-shell|jfrog\s\w+|heroku\slogin|crane\sauth\slogin|oras\slogin|rabbitmqadmin|twine\s\w{{1,12}})\b{_LINE}{{0,400}}?\s-p(?:\s{{1,4}}|=|(?=['\"\w])){_ARG}{_WORD}",
        lambda v: _argument(v) and not re.fullmatch(r"[0-9]{2,5}|assword.*|ort.*", v),
    ),
    _rule(
        "client with -a, -w, -P",
        "password",
        "redis-cli|ldap|sqlcmd|bcp |zip|ipmitool|snmp|isql|valkey|xfreerdp|keydb|telnet|ftp|tsql|mosquitto_",
        rf"(?:(?:redis-cli|valkey-cli|keydb-cli)\b{_LINE}{{0,300}}?\s(?:-a|--pass)|ldap\w+\b{_LINE}{{0,300}}?\s-w|(?:sqlcmd|bcp|isql|tsql|ipmitool|zip|unzip|ftp)\b{_LINE}{{0,300}}?\s-P|mosquitto_\w+\b{_LINE}{{0,300}}?\s(?-i:-P)(?=[ \t])|snmp\w+\b{_LINE}{{0,300}}?\s-[AX]|xfreerdp\b{_LINE}{{0,300}}?\s/p:)(?:\s{{1,4}}|(?=['\"\w])|(?<=:)){_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "redis client that logs in",
        "password",
        "redis-cli|valkey-cli|keydb-cli",
        rf"(?:redis|valkey|keydb)-cli\b{_LINE}{{0,300}}?\s(?:auth|hello\s[23]\sauth)\s{{1,4}}(?:{_ARG}[\w.\-]{{1,40}}(?:\\{{0,3}}[\"'])?\s{{1,4}}(?=[^\s|;&-]))?{_ARG}{_WORD}",
        lambda v: _argument(v) and (has_digit(v) or mixed(v)),
    ),
    _rule(
        "value of a registry",
        "password",
        "reg add|reg.exe add|new-itemproperty|set-itemproperty",
        rf"(?:reg(?:\.exe)?\sadd\s{_LINE}{{1,200}}?\s/v\s{{1,4}}[\"']?[\w.\-]{{0,40}}(?:passw(?:or)?d|pwd|secret|token|passphrase)\w{{0,20}}[\"']?\s{_LINE}{{0,80}}?/d\s{{1,4}}"
        rf"|(?:new|set)-itemproperty\s{_LINE}{{1,200}}?-name\s{{1,4}}[\"']?[\w.\-]{{0,40}}(?:passw(?:or)?d|pwd|secret|token|passphrase)\w{{0,20}}[\"']?\s{_LINE}{{0,80}}?-value\s{{1,4}}){_ARG}{_WORD}",
        lambda v: _argument(v) and not v.isdigit(),
    ),
    _rule(
        "login of a scanner",
        "token",
        "sonar.login|sonar.token",
        rf"sonar\.(?:login|token)\s?=\s?{_ARG}(?P<v>[0-9A-Za-z_]{{20,200}})",
        _argument,
    ),
    _rule("openssl phrase", "password", "pass:", rf"(?<![\w\-])pass:{_ARG}{_WORD}", lambda v: _argument(v)),
    _rule(
        "openssl key",
        "password",
        "openssl",
        rf"openssl\s{_LINE}{{0,300}}?\s-(?:k|K|passwd|pass|hmac|macopt\shexkey:)\s?{_ARG}{_WORD}",
        lambda v: _argument(v) and not v.startswith(("pass:", "env:", "file:", "stdin", "fd:")),
    ),
    _rule(
        "samba user",
        "password",
        "smbclient|-u |mount",
        rf"(?:smbclient|rpcclient|net\s|smbmap|crackmapexec|nxc|wmic|winexe){_LINE}{{0,300}}?\s-U\s?{_ARG}[\w.\\/@\-]{{1,60}}%{_WORD}",
        _argument,
    ),
    _rule(
        "lftp user",
        "password",
        "lftp|ncftp",
        rf"lftp\b{_LINE}{{0,200}}?\s-u\s?{_ARG}[\w.@\-]{{1,60}},{_WORD}",
        _argument,
    ),
    _rule(
        "net user",
        "password",
        "net user|net use",
        rf"net\s(?:user\s\S{{1,60}}|use\s\S{{1,60}}\s\S{{1,100}})\s(?:/user:\S{{1,60}}\s)?{_ARG}{_WORD}",
        lambda v: _argument(v) and not v.startswith("/"),
    ),
    _rule(
        "htpasswd",
        "password",
        "htpasswd",
        rf"htpasswd\s(?:-\w+\s)*-\w*b\w*\s(?:-\w+\s)*(?:[^\s\-]\S*\s)?[\w.@\-]{{1,60}}\s{_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "piped to a login",
        "password",
        "sudo -s|--password-stdin|--stdin|chpasswd|su -|--with-token|passwd|cryptsetup|kinit|gpg|ncat",
        r"(?:echo|printf)\s(?:-\w\s)?(?P<q>[\"']?)(?:[\w.\-]{1,40}:)?(?P<v>[^\"'\n|$]{3,200})(?P=q)\s{0,4}\|\s{0,4}[^\n|]{0,80}?(?:sudo\s-\w*S|--password-stdin|--stdin|chpasswd|\bsu\b|--with-token|passwd|cryptsetup|kinit|gpg)",
        lambda v: _argument(v.replace("\\n", "")),
        260,
    ),
    _rule(
        "here string to a login",
        "password",
        "<<<",
        rf"(?:sudo\s-\w*S|login|passwd|auth|kinit|gpg|cryptsetup|secret){_LINE}{{0,160}}?<<<\s?{_ARG}(?:\w{{1,40}}:)?{_WORD}",
        _argument,
        240,
    ),
    _rule(
        "login with a token",
        "token",
        "vault login|vault operator unseal|vault unseal|doppler|npm token|snyk auth|snyk config|codecov|wandb login|huggingface-cli login|hf auth|ngrok|gcloud auth|flyctl auth|op signin|cargo login|argocd|infracost|linode|vault token",
        rf"(?:vault\s(?:login|(?:operator\s)?unseal)|snyk\sauth|wandb\slogin|ngrok\s(?:config\sadd-)?authtoken|cargo\slogin|hf\sauth\slogin|config\sset-token)\s(?:--?[\w\-]+(?:=\S+)?\s)*{_ARG}{_WORD}",
        lambda v: _argument(v) and (has_digit(v) or mixed(v)),
    ),
    _rule(
        "user and password as arguments",
        "password",
        "rabbitmqctl|wpa_passphrase|mc alias|mc config|useradd|wifi connect|rclone|cmdkey",
        rf"(?:rabbitmqctl\s(?:add_user|change_password|authenticate_user)\s\S{{1,60}}|wpa_passphrase\s\S{{1,60}}|mc\s(?:alias\sset|config\shost\sadd)\s\S{{1,60}}\s\S{{1,200}}\s\S{{1,100}}|rclone\sobscure|wifi\sconnect\s[^\n]{{1,60}}?\spassword|useradd\s[^\n]{{0,100}}?-p|cmdkey\s[^\n]{{0,100}}?/pass:)(?:\s|(?<=:)){_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "macos keychain",
        "password",
        "security ",
        rf"security\s(?:[a-z]+-[a-z\-]{{3,40}}|import)\b{_LINE}{{0,200}}?\s-[wpPk]\s{_ARG}{_WORD}",
        _argument,
    ),
    _rule(
        "aws configure",
        "aws-secret-key",
        "aws_secret_access_key|aws_session_token|secret_access_key",
        rf"(?:secret_access_key|session_token)\s{{1,40}}(?:=\s)?{_ARG}{_WORD}",
        lambda v: _argument(v) and len(v) > 7,
    ),
)
