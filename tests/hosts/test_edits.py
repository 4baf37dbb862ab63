"""An entry is put into a configuration and taken out again; nothing beside it changes."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recall.hosts import edits
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
]


@pytest.mark.parametrize("text", JSONS)
def test_json_in_and_out(text: str) -> None:
    changed = edits.with_member(text, PATH, ENTRY)
    assert edits.has_member(changed, PATH)
    assert not edits.has_member(text, PATH)
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
    "text", ["[]", "{", '{"a" 1}', '{"a": }', "{} {}", '{"mcpServers": 3}', "null", '{"a": 1 "b": 2}']
)
def test_json_that_cannot_take_it_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        edits.with_member(text, PATH, ENTRY)


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


@pytest.mark.parametrize(
    "text", ["", 'model = "x"\n', "a = 1", "# only a comment\n", '[mcp_servers.other]\ncommand = "y"\n\n']
)
def test_toml_in_and_out(text: str) -> None:
    body = '[mcp_servers.history-recall]\ncommand = "history-recall"\nargs = ["mcp"]'
    changed = edits.with_block(text, body)
    assert tomllib.loads(changed)["mcp_servers"]["history-recall"]["args"] == ["mcp"]
    assert edits.has_table(changed, ("mcp_servers", "history-recall"))
    assert edits.without_block(changed).rstrip("\n") == text.rstrip("\n")
    assert changed.startswith(text)
    with pytest.raises(NotUnderstood):
        edits.with_block(changed, body)


YAMLS = [
    "",
    "model:\n  default: x\n",
    "model: x",
    "plugins:\n  disabled: []\n",
    "plugins:\n  enabled:\n    - other\n    # kept\n    - more\nmodel: x\n",
    "plugins:\n    enabled: [other, 'more'] # why\nmodel: x\n",
    "plugins:\n  enabled: []\n",
    "a: 1\nplugins: # mine\n  enabled:\n  - other\n",
]


@pytest.mark.parametrize("text", YAMLS)
def test_yaml_in_and_out(text: str) -> None:
    changed = edits.enabling(text, "history-recall")
    assert edits.enables(changed, "history-recall")
    assert not edits.enables(text, "history-recall")
    assert not edits.enables(edits.disabling(changed, "history-recall"), "history-recall")
    for line in text.splitlines():
        assert line.split("[")[0].split("#")[0].strip() in changed
    if "- other" in text or "[" in text.replace("disabled: []", ""):
        assert edits.disabling(changed, "history-recall") == text


@pytest.mark.parametrize("text", ["plugins: {enabled: [x]}\n", "plugins:\n  enabled: *names\n"])
def test_yaml_in_another_form_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        edits.enabling(text, "history-recall")
