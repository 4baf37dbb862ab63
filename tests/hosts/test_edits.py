"""An entry is put into a configuration and taken out again; nothing beside it changes."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]  # comes with litellm
from hypothesis import given
from hypothesis import strategies as st

from recall.hosts import edits, edits_toml, edits_yaml
from recall.hosts.edits import NotUnderstood

ENTRY = {"command": "history-recall", "args": ["mcp"]}
PATH = ("mcpServers", "history-recall")

JSONS = [
    "{}",
    "{}\n",
    '{"a": 1}',
    '{\n  "theme": "dark"\n}\n',
    '{\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t},\n\t"z": [1, 2]\n}\n',
    '{"mcpServers": {"other": {"url": "http://a/b"}}, "deep": {"er": [{"}": "]"}]}}',
    '{\n  "x": {}, // one\n  "y": 2 // two\n}\n',
    '{\n  // mine\n  "a": 1, /* } */\n  "mcpServers": {\n    "other": {}, // last\n  },\n}\n',
    '\ufeff{"a": "\\"}{,"}',
    '{\r\n  "theme": "dark"\r\n}\r\n',
    '{\r\n\t"mcpServers": {\r\n\t\t"other": {}, // last\r\n\t}, // and\r\n}\r\n',
]


@pytest.mark.parametrize("text", JSONS)
def test_json_in_and_out(text: str) -> None:
    changed = edits.with_member(text, PATH, ENTRY)
    assert edits.has_member(changed, PATH)
    assert not edits.has_member(text, PATH)
    assert ("\r\n" in text) == ("\r\n" in changed)
    assert "\n" not in changed.replace("\r\n", "") or "\r\n" not in text
    for line in text.splitlines()[1:-1]:
        assert line.replace(",", "") in changed.replace(",", "")
    assert edits.without_member(changed, PATH) == text
    with pytest.raises(NotUnderstood):
        edits.with_member(changed, PATH, ENTRY)


def test_json_is_made_where_there_is_none() -> None:
    made = edits.with_member("", PATH, ENTRY)
    assert json.loads(made) == {"mcpServers": {"history-recall": ENTRY}}
    assert made.endswith("}\n")


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "{",
        '{"a" 1}',
        '{"a": }',
        "{} {}",
        '{"mcpServers": 3}',
        "null",
        '{"a": 1 "b": 2}',
        '{"mcpServers": {"a": {}}, "mcpServers": {"b": {}}}',
        '{"mcpServers": {}, "x": 1, "mcp\\u0053ervers": {}}',
        '{"a\nb": 1}',
        '{"\\x": 1}',
        "\ufeff",
        "// nothing but a comment",
        '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=lambda text: text[:40],
)
def test_json_that_cannot_take_it_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        edits.with_member(text, PATH, ENTRY)


def test_of_two_entries_of_one_name_none_is_taken() -> None:
    text = '{"mcpServers": {"history-recall": {"command": "a"}, "history-recall": {"command": "b"}}}'
    for edit in (edits.has_member, edits.member, edits.without_member):
        with pytest.raises(NotUnderstood):
            edit(text, PATH)


@given(
    st.dictionaries(
        st.text(max_size=6),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
            lambda inner: st.one_of(
                st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
            max_leaves=8,
        ),
        max_size=4,
    ),
    st.sampled_from([None, 1, 2, 4, "\t"]),
)
def test_any_json(value: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if not isinstance(value.get("mcpServers", {}), dict):
        return
    changed = edits.with_member(text, PATH, ENTRY)
    expected = dict(value)
    expected["mcpServers"] = {**dict(value.get("mcpServers", {})), "history-recall": ENTRY}  # type: ignore[call-overload]
    assert json.loads(changed) == expected
    assert edits.without_member(changed, PATH) == text


TABLE = ("mcp_servers", "history-recall")
LINES = ('command = "history-recall"', 'args = ["mcp"]')
TOMLS = [
    "",
    'model = "x"\n',
    "a = 1",
    "# only a comment\n",
    '[mcp_servers.other]\ncommand = "y"\n\n',
    'model = "x"\r\n[mcp_servers.other]\r\ncommand = "y"\r\n',
    '\ufeffmodel = "x"\n',
    'text = """\n[mcp_servers.history-recall]\ncommand = "quoted"\n"""\n',
    "mcp_servers.other.command = 'y' # dotted\n",
    '[[list]]\na = 1\n[[list]]\na = [\n  1, # ]\n  "]",\n]\n',
]


@pytest.mark.parametrize("text", TOMLS)
def test_toml_in_and_out(text: str) -> None:
    changed = edits_toml.with_table(text, TABLE, LINES)
    assert tomllib.loads(changed.removeprefix("\ufeff"))["mcp_servers"]["history-recall"]["args"] == ["mcp"]
    assert edits_toml.table(changed, TABLE) == {"command": "history-recall", "args": ["mcp"]}
    assert edits_toml.table(text, TABLE) is None
    assert "\n" not in changed.replace("\r\n", "") or "\r\n" not in text
    assert edits_toml.without_table(changed, TABLE).rstrip("\n") == text.rstrip("\n")
    assert changed.startswith(text)
    assert edits_toml.without_table(text, TABLE) == text
    with pytest.raises(NotUnderstood):
        edits_toml.with_table(changed, TABLE, LINES)


@pytest.mark.parametrize(
    "text",
    [
        "not [toml",
        '[[mcp_servers]]\nname = "other"\n',
        'mcp_servers = {other = {command = "y"}}\n',
        "mcp_servers = 3\n",
        "mcp_servers = []\n",
        '[mcp_servers]\n"history-recall" = {command = "y"}\n',
        "a = " + "[" * 50_000 + "]" * 50_000,
    ],
    ids=lambda text: text[:40],
)
def test_toml_that_cannot_take_it_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        edits_toml.with_table(text, TABLE, LINES)


HEADER = "[mcp_servers.history-recall]"
OTHER = '[mcp_servers.other]\ncommand = "y"\n'
OURS = f'{HEADER}\ncommand = "history-recall"\nargs = [\n  "mcp", # ]\n]\n'
# What hosts and people have made of the file since: the first is what `codex mcp add other` leaves.
MOVED = {
    f'model = "x"\n\n{OURS}\n{OTHER}{edits_toml.NOTE}\n': f'model = "x"\n\n{OTHER}{edits_toml.NOTE}\n',
    f"{OTHER}\n{edits_toml.NOTE}\n{OURS}\n[projects.a]\nb = 1\n": f"{OTHER}\n[projects.a]\nb = 1\n",
    f"{OURS}\n{HEADER[:-1]}.env]\nA = '1'\n\n{OTHER}": f"\n{OTHER}",
    f"{HEADER[:-1]}.tools.search]\na = 1\n{OTHER}{OURS}# mine\n": f"{OTHER}# mine\n",
    f"{OURS}# mine\n{OTHER}": f"# mine\n{OTHER}",
    f"{OTHER}{OURS}": OTHER,
    OURS.replace("\n", "\r\n") + OTHER: OTHER,
}


@pytest.mark.parametrize("text", MOVED)
def test_a_table_is_taken_out_wherever_it_stands_and_nothing_else(text: str) -> None:
    assert edits_toml.without_table(text, TABLE) == MOVED[text]


@pytest.mark.parametrize(
    "text", ['[mcp_servers]\nhistory-recall = {command = "y"}\n', 'mcp_servers.history-recall.command = "y"\n']
)
def test_a_table_in_another_form_is_not_taken_out(text: str) -> None:
    with pytest.raises(NotUnderstood):
        edits_toml.without_table(text, TABLE)


YAMLS = [
    "",
    "model:\n  default: x\n",
    "model: x",
    "plugins:\n  disabled: []\n",
    "plugins:\n  enabled:\n    - other\n    # kept\n    - more\nmodel: x\n",
    "plugins:\n    enabled: [other, 'more'] # why\nmodel: x\n",
    "plugins:\n  enabled: []\n",
    "a: 1\nplugins: # mine\n  enabled:\n  - other\n",
    'plugins:\n  enabled:\n    # mine\n  - other\n\n  - "more" # why\n  disabled:\n  - that\n',
    "plugins:\r\n  enabled:\r\n    - other\r\nmodel: x\r\n",
    "plugins:\n  entries:\n    other:\n      enabled:\n        - no list of ours\n  enabled: [x]\n",
    "plugins:\n  entries:\n    other:\n      enabled: true\nmodel: x\n",
    "---\n# a document\nmodel: x\n",
    "\ufeffplugins:\n  enabled: [x]\n",
    "text: |\n\tplugins\n  plugins:\n    enabled: x\nmodel: y\n".replace("\t", "  "),
    "plugins:\n  enabled:\n",
    "plugins:\n  'enabled': [x]\n",
]


def plugins(text: str) -> Any:
    """What the host's own reader makes of it."""
    found = yaml.safe_load(text.removeprefix("\ufeff")) or {}
    return found, (found.get("plugins") or {}).get("enabled") or []


@pytest.mark.parametrize("text", YAMLS)
def test_yaml_in_and_out(text: str) -> None:
    changed = edits_yaml.enabling(text, "history-recall")
    assert edits_yaml.enables(changed, "history-recall")
    assert not edits_yaml.enables(text, "history-recall")
    before, listed = plugins(text)
    now, longer = plugins(changed)
    assert longer == [*listed, "history-recall"]
    assert {**now, "plugins": {**now["plugins"], "enabled": 0}} == {
        **before,
        "plugins": {**(before.get("plugins") or {}), "enabled": 0},
    }
    assert "\n" not in changed.replace("\r\n", "") or "\r\n" not in text
    out = edits_yaml.disabling(changed, "history-recall")
    assert plugins(out)[1] == listed
    assert [line for line in out.splitlines() if line in text.splitlines()] == [
        line for line in text.splitlines() if line in out.splitlines()
    ]
    if listed or "[]" in text.replace("disabled: []", ""):
        assert out == text
    assert edits_yaml.disabling(text, "history-recall") == text


@pytest.mark.parametrize(
    "text",
    [
        "plugins: {enabled: [x]}\n",
        "plugins:\n  enabled: *names\n",
        "plugins:\n  enabled: [x,\n    y]\n",
        "plugins:\n  enabled: &names\n    - x\n",
        "plugins:\n  enabled:\n    - x\n      and more\n",
        "plugins:\n  enabled:\n    - {x: y}\n",
        "plugins:\n  enabled: [x]\n  enabled: [y]\n",
        "plugins:\n  enabled: [x]\nplugins:\n  enabled: [y]\n",
        "plugins:\n  disabled:\n    - history-recall\n  enabled: [x]\n",
        "plugins:\n\tenabled: [x]\n",
        "a: 1\n---\nplugins:\n  enabled: [x]\n",
        "{a: 1}\n",
        "- a\n",
        "a: 1\n...\n",
        "  a: 1\n",
        "plugins:\n  - a\n",
        "plugins:\n- a\n",
        "plugins:\n  a text\n",
        "plugins:\n    enabled: [x]\n  other: y\n",
    ],
)
def test_yaml_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        edits_yaml.enabling(text, "history-recall")


def test_a_name_in_another_list_is_not_in_ours() -> None:
    text = "plugins:\n  entries:\n    - history-recall\n  enabled:\n    - other\n"
    assert not edits_yaml.enables(text, "history-recall")
    assert edits_yaml.disabling(text, "history-recall") == text
