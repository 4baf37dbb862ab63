"""Numbers, locations, trees; and what holds for any text."""

import json
import re
import string
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fixtures.redact.grid import ALONE, BY_NAME, NAMED, VENDOR
from recall.redact import RULES_VERSION, Redactor, redact_text, redactor
from tests.redact.test_rules import left

ONE, TWO = VENDOR["ghp_/0"], VENDOR["gho_/1"]


def test_same_secret_same_number() -> None:
    redactor = Redactor()
    assert (
        redactor.text(f"{ONE} {TWO} {ONE}")
        == "[REDACTED:github-token#1] [REDACTED:github-token#2] [REDACTED:github-token#1]"
    )
    assert redactor.text(f"again {TWO}") == "again [REDACTED:github-token#2]"
    assert redactor.counts == {"github-token": 4}


def test_numbers_are_remembered_by_place() -> None:
    first = Redactor()
    first.text(f"{ONE} {TWO}", at="e1:0")
    assert first.locations == {"e1:0:0:github-token": 1, f"e1:0:{len(ONE) + 1}:github-token": 2}
    again = Redactor(first.locations)
    assert again.text(f"new {VENDOR['ghu_/2']}", at="e0:0") == "new [REDACTED:github-token#3]"
    assert again.text(f"{ONE} {TWO}", at="e1:0") == "[REDACTED:github-token#1] [REDACTED:github-token#2]"


def test_a_place_is_an_offset_in_the_original() -> None:
    redactor = Redactor()
    redactor.text(f"\x1b[31mred\x1b[0m password={ONE} then {TWO}", at="x")
    assert redactor.locations[f"x:{len('?[31mred?[0m password=')}:github-token"] == 1
    assert redactor.locations[f"x:{len('?[31mred?[0m password=') + len(ONE) + 6}:github-token"] == 2


def test_no_secret_is_kept_in_what_may_be_stored() -> None:
    redactor = Redactor()
    redactor.tree({"password": "hunter2", "t": ONE})
    assert "hunter2" not in repr(redactor.locations)
    assert ONE not in repr(redactor.locations)
    assert RULES_VERSION >= 1


@pytest.mark.parametrize(
    ("tree", "gone"),
    [
        ({"password": "x9!"}, "x9!"),
        ({"password": 48213377}, "48213377"),
        ({"env": [{"name": "DB_PASS", "value": "owl"}]}, '"owl"'),
        ({"passwords": ["owl77", "wren88"]}, "wren88"),
        ({"body": '{"password": "ow\\"l"}'}, "ow\\"),
        ({"body": json.dumps({"b": json.dumps({"client_secret": "nuthatch"})})}, "nuthatch"),
        ({"headers": {"Authorization": "Bearer abcdefgh12345678"}}, "abcdefgh"),
        ({"headers": {"cookie": "sid=abcdefgh12345678"}}, "abcdefgh"),
        ({ONE: 1}, ONE),
        ({"command": 'login --password "pa\\"ss-brambling\\\\" --user ana'}, "brambling"),
    ],
)
def test_trees(tree: object, gone: str) -> None:
    redacted = Redactor().tree(tree)
    assert gone not in json.dumps(redacted)
    assert Redactor().tree(redacted) == redacted


def test_tree_without_secrets_comes_back_as_it_was() -> None:
    tree = {
        "id": "toolu_012yuiPP1VAfh196GXaAmT8D",
        "n": 1.5,
        "none": None,
        "yes": True,
        "max_tokens": 4096,
        "body": '{ "a" : [1,2 , 3] }',
        "usage": {"input_tokens": 123456789},
        "sha": "3f786850e387550fdab836ed7e6dc881de23001b",
    }
    assert Redactor().tree(tree) == tree


NOISE = st.text(
    st.sampled_from(string.ascii_letters + string.digits + " \n\t.,:;=\"'`\\{}[]()<>|&%$#@!/-_密码是パ"), max_size=60
)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.one_of(
            NOISE,
            st.sampled_from(
                [
                    "password",
                    "token=",
                    "Authorization: ",
                    "-----BEGIN ",
                    "eyJ",
                    "[REDACTED:token#1]",
                    "密码是",
                    ONE,
                    "://a:b1c2@",
                    "api_key: ",
                    " is ",
                ]
            ),
        ),
        max_size=8,
    )
)
def test_redacting_twice_changes_nothing(parts: list[str]) -> None:
    once = redact_text("".join(parts))
    assert redact_text(once) == once


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=200))
def test_any_text_goes_through(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(VENDOR)),
    st.sampled_from(sorted(ALONE)),
    st.sampled_from(["", "words before ", "a = 1\n", "# x\n\n"]),
    st.sampled_from(["", " and after", "\nb = 2", "\n\nend."]),
)
def test_drawn_secret_is_gone_and_noise_stays(kind: str, way: str, before: str, after: str) -> None:
    redacted = redact_text(before + ALONE[way](VENDOR[kind]) + after)
    assert not left(VENDOR[kind], redacted)
    assert redacted.startswith(before)
    assert redacted.endswith(after)
    assert redact_text(redacted) == redacted


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(sorted(NAMED)), st.sampled_from(sorted(BY_NAME)), st.integers(1, 40))
def test_no_slice_holds_a_part_of_a_secret(kind: str, way: str, size: int) -> None:
    name, value = NAMED[kind]
    redacted = redact_text("x y z " * 5 + "\n" + BY_NAME[way](name, value) + "\n" + "x y z " * 5)
    slices = [redacted[at : at + size] for at in range(0, len(redacted), size)]
    assert "".join(slices) == redacted
    assert not any(left(value, a + b) for a, b in pairwise(slices))


@settings(max_examples=150, deadline=None)
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(max_size=30)
        | st.sampled_from([ONE, f"password={TWO}"]),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.text(max_size=12) | st.sampled_from(["password", "value", "name", "data"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    )
)
def test_trees_keep_their_shape(tree: object) -> None:
    redacted = Redactor().tree(tree)
    json.dumps(redacted)
    assert shape(redacted) == shape(tree)


def shape(value: object) -> object:
    if isinstance(value, list):
        return [shape(item) for item in value]
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return "leaf"


HOSTILE = [
    "password=",
    "a.",
    "\"'\\",
    "-----BEGIN",
    "-----BEGIN RSA PRIVATE KEY-----",
    "eyJ",
    '{"',
    '"password":"',
    "authorization: ",
    "bearer ",
    "://",
    "a://b:",
    "A1",
    " ",
    "password ",
    "curl -u ",
    "cookie: a=",
    "| password ",
    "key:\n",
    "x-",
    "&quot;",
    "ghp_",
    "--token ",
    "密码",
    "\\n",
    "sk-a1",
    "\\" * 50 + '"',
    "[REDACTED:a#1]",
    "password=<<EOF\n",
    "<password ",
    "password,a\n",
    "password: |\n  ",
    "QUJDabc123/+",
    "$6$a$",
    "auth ",
    'name="password" ',
    "$ cat token\n",
    "echo $TOKEN ",
    "kubectl secret base64 ",
    "your code is ",
    "chpasswd\n",
    "a:b@",
    "key: abcd ",
    "${X}",
    "密码是",
    "eyJhbGciOi.eyJ\n",
    "$ANSIBLE_VAULT;1.1;AES256\n",
    "<password><value>",
    "ghp_a\n",
    "x_api_",
    "AKIA",
    "[REDACTED:a-key#1]\n",
    "password for bob ? ",
    "sk-ant-a1B2\n ",
]


@pytest.mark.parametrize("unit", HOSTILE)
def test_hostile_text_costs_in_proportion(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        start = time.process_time()
        redact_text(text)
        return time.process_time() - start

    small = min(seconds(3_000) for _ in range(3))
    # twenty times the text: twenty times the time, with room for a busy machine; a square would be four hundred
    assert any(seconds(60_000) < 120 * max(small, 0.002) for _ in range(3))


@pytest.mark.parametrize("inner", [ONE, f"token={ONE}", f"token {ONE}] and", "password: hunter2x9"])
def test_no_placeholder_stands_in_another(inner: str) -> None:
    nested = re.compile(r"\[REDACTED:[^\]]*\[REDACTED:")
    redactor = Redactor()
    for text in (
        f"[REDACTED:{inner}]",
        f"a [REDACTED:{inner}",
        f"[REDACTED:[REDACTED:{inner}]]",
        f"{inner} [REDACTED:x#1]{inner}",
    ):
        assert not nested.search(redactor.text(redactor.text(text)))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["[REDACTED:", "token#1]", "]", " ", "=", "password", "x9Yfoo1q", ONE, '"', ":", "\n"]),
        max_size=12,
    )
)
def test_placeholders_are_never_nested(parts: list[str]) -> None:
    text = "".join(parts)
    redacted = redact_text(text)
    made = len(re.findall(r"\[REDACTED:[^\]\n]*\[REDACTED:", redacted))
    assert made <= len(re.findall(r"\[REDACTED:[^\]\n]*\[REDACTED:", text))


def test_a_strong_value_found_once_is_found_everywhere() -> None:
    redactor = Redactor()
    value = "q8Zr-" + "Tk2!mm4"
    assert (
        redactor.text(f"I saw {value}; password: {value}")
        == "I saw [REDACTED:password#1]; password: [REDACTED:password#1]"
    )
    assert redactor.text(f"again {value}, x{value}y") == f"again [REDACTED:password#1], x{value}y"
    assert redactor.text("password: swallows") == "password: [REDACTED:password#2]"
    assert redactor.text("two swallows") == "two swallows"


def test_many_known_values_are_sought_at_once() -> None:
    redactor = Redactor()
    values = [f"k{index:03}Zr-" + "Tk2!mm4" for index in range(40)]
    for value in values:
        redactor.text(f"password: {value}")
    assert redactor.text(" ".join(values)) == " ".join(f"[REDACTED:password#{index + 1}]" for index in range(40))


def test_a_long_line_is_read_in_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redactor, "WINDOW", 1000)
    monkeypatch.setattr(redactor, "MARGIN", 300)
    monkeypatch.setattr(redactor, "NEAR", 150)
    for before in range(1940, 2060, 7):
        text = "x y " * (before // 4) + "z" * (before % 4) + f" password={ONE} " + "x y " * 800 + f"api_key: {TWO}"
        redacted = redact_text(text)
        assert ONE not in redacted
        assert TWO not in redacted
        assert "k9" not in redact_text("x y " * (before // 4) + "token=" + "k9" * 3000 + " x y" * 900)
        assert redacted.count("x y ") == text.count("x y ")
        assert redact_text(redacted) == redacted
