"""Ways past the rules that somebody found: each with variations, and with what looks like it and has to stay."""

import pytest

from recall.redact import redact_text

SECRET = "Kf83jdk29dk3sQQ"
DIGEST = "5f4dcc3b5aa765d61d8327deb882cf99"

GONE = [
    f"password:\n  {SECRET} thanks",
    f"token:\n\t{SECRET} is it",
    f"Password:\n\n  {SECRET}, cheers",
    f"Password\n{SECRET}\n",
    f"## API key\n\n{SECRET} is it\n",
    f"access token\r\n    {SECRET} for now",
    f"redis-cli AUTH {SECRET}",
    f"redis-cli -h h -p 6379 auth ana {SECRET}",
    f'valkey-cli AUTH "{SECRET}"',
    f"AUTH default {SECRET}",
    f"> AUTH {SECRET}",
    f"redis> auth default {SECRET} ",
    f"127.0.0.1:6379> AUTH default {SECRET}",
    f"ssh bob:{SECRET}@host",
    f"bob:{SECRET}@host",
    f"connect to bob:{SECRET}@db.local:5432 now",
    f"scp x 'bob:{SECRET}@10.0.0.4:/tmp'",
    f"Password> {SECRET}",
    f"Enter password> {SECRET}\nWelcome",
    f"log:\nDB password> {SECRET}",
    f"ｐａｓｓｗｏｒｄ：{SECRET}",
    f"ＴＯＫＥＮ＝{SECRET}",
    f"ａｐｉ＿ｋｅｙ: {SECRET}",
    f"𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: {SECRET}",
    "\u0130ghp_" + "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dF3hJ5",
    f"bob:realm:{DIGEST}",
    f"bob:Private Area:{DIGEST}\nann:Private Area:{DIGEST[::-1]}\n",
    "the pass is 'correct horse battery staple'",
    'the pass was "correct horse battery staple", I think',
    "my password is `correct horse battery staple`",
    "the key you gave me (k3Y9x)",
    "use the key they sent me (x9Yfoo1q) for that",
    "with the token you gave me (a8Zk2)",
    f"用 root/{SECRET} 就能登录数据库",
    f"请使用admin/{SECRET}登陆",
    f'TwilioClient("AC{DIGEST}", "{DIGEST}")',
    f"c = Client('AC{DIGEST}','{DIGEST}')",
]
LEFT = (SECRET, SECRET[4:], DIGEST, DIGEST[::-1], "horse", "k3Y9x", "x9Yfoo1q", "a8Zk2", "gH7jK9mN")

STAYS = [
    "用 feature/login-2 分支登录",
    "用 GET/api2 就能登录",
    "用 src/login2.py 登录",
    f'read("account", "{DIGEST}")',
    "password:\n  the usual one, thanks",
    "Password\nForgotten your password?\n",
    "## Token\n\nThe Tokenizer2 class reads them.\n",
    "api key\ngetApiKeyV2(config)\n",
    "AUTH is on, AUTH default user",
    "redis-cli auth required",
    "mail bob:ann@host.invalid or git@github.com:org/repo2.git",
    "see npm:react@18.2.0 and docker:image@sha256",
    "Password> ",
    "if password > 8 or token> limit:",
    f"src/a.py:12:{DIGEST}",
    f"image:md5:{DIGEST}",
    f"etag: {DIGEST}",
    "the pass is 'the first one of the two'",
    "the key you gave me (again) works",
    "ｈｅｌｌｏ：ｗｏｒｌｄ",
]


@pytest.mark.parametrize("text", GONE)
def test_secret_is_gone(text: str) -> None:
    once = redact_text(text)
    assert once != text
    assert not any(secret in once for secret in LEFT)
    assert redact_text(once) == once


@pytest.mark.parametrize("text", STAYS)
def test_what_looks_like_it_stays(text: str) -> None:
    assert redact_text(text) == text
