"""Values that a clause, a fence, a change or a call parts from what says that they are secret; and look-alikes."""

from __future__ import annotations

import pytest

from fixtures.redact.grid import AN, body
from recall.redact import redact_text

TOKEN = body(AN, 32, "told")
WORD = f"k7{body(AN, 8, 'word')}"
TOLD = [
    "ok the key you need is {token}",
    "My token for the API (don't commit it!): {token}",
    "Here's my API key, use it for the test: {token}",
    "Here is the token you asked for:\n{token}",
    "Here's the key\n```\n{token}\n```",
    "root password was rotated from x1{word} to {word} today",
    "password changed from x1{word} to {word}",
    "密码如下：{word}",
    "パスワードはこれです：{word}",
    "用 admin/{word} 登录后台",
    "mật khẩu là {word}",
    "jwt.sign(payload, '{token}', options)",
    "crypto.createHmac('sha256', '{token}')",
    "password: <%= ENV['DB_PASSWORD'] || '{word}' %>",
    'password = config["password"] or "{word}"',
    "mosquitto_pub -u dev -P {word} -t a -m b",
    "sip:ana:{word}@pbx.invalid",
]
CODES = ["您的验证码是585550，5分钟内有效", "验证码[585550]", "認証コードは585550です", "인증번호는 585550입니다"]
HARMLESS = """
the key you want is toolu_01A09q90qw90lq917835lq9
The key, after sorting: Zone2ARegionEUWest1Cluster05
the token we parse is IdentifierNameWithUnicode15
The key takeaway: UseEffectRunsTwiceInStrictMode18
the pass rate on this set was Run20261201AllModelsB4
the auth class to use is OAuth2ClientCredentialsProviderV2Impl
the key file is Build2024ReleaseSigningConfig.plist
验证码长度为 6 位
验证码接口返回 1001 错误
密码如下图所示
パスワードは以下の条件を満たす必要があります
crypto.createHmac('sha256', secret)
jwt.verify(token, publicKey, { algorithms: ['RS256'] })
sip:alice@example.com:5060
reg add HKCU\\Software\\X /v TokenTimeout /t REG_DWORD /d 3600 /f
sonar.login=${SONAR_TOKEN}
the password was changed from plain text to bcrypt
session timeout changed from 30m to 1h30m
mosquitto_sub -t 'a/#' -p 8883 --cafile ca.crt
访问 /api/v2/Auth3 登录
token = os.environ["TOKEN"] or None
""".strip().splitlines()


@pytest.mark.parametrize("template", TOLD)
def test_what_is_told_goes(template: str) -> None:
    redacted = redact_text(template.format(token=TOKEN, word=WORD))
    assert TOKEN not in redacted
    assert WORD not in redacted
    assert f"x1{WORD}" not in redacted
    assert redact_text(redacted) == redacted


@pytest.mark.parametrize("text", CODES)
def test_codes_of_messages_go(text: str) -> None:
    assert "585550" not in redact_text(text)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_so_stays(text: str) -> None:
    assert redact_text(text) == text


def test_options_among_the_lines_of_an_environment_stay() -> None:
    text = "$ env\nHOME=/home/ana\nPATH=/bin\nMALLOC_CONF=dirty_decay_ms:0,muzzy_decay_ms:0\nLANG=C\nTERM=xterm\n"
    assert redact_text(text) == text


def test_lines_that_follow_each_other_say_nothing_about_each_other() -> None:
    text = "\n".join(HARMLESS)
    assert redact_text(text) == text


def test_a_key_whose_comment_is_quoted_goes_whole() -> None:
    lines = [body(AN, 60, f"line {number}") for number in range(3)]
    text = "\n".join(
        [
            "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
            'Comment: "a key"',
            *lines,
            "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
        ]
    )
    redacted = redact_text(text)
    assert not any(line in redacted for line in lines)
