"""Settings: the environment wins over config.toml, bad values are named, paths are made absolute once."""

from __future__ import annotations

from pathlib import Path

import pytest

from recall.errors import ArgumentError
from recall.settings import load


def test_the_defaults(home: Path) -> None:
    settings = load({"HOME": str(home)})
    assert settings.offline
    assert (settings.batch_sessions, settings.batch_calls, settings.daily_calls) == (2, 12, 200)
    assert (settings.concurrency, settings.repair, settings.profile) == (3, "due", "default")
    assert settings.database.is_absolute()
    assert settings.database.is_relative_to(home)


def test_the_environment_wins_over_the_file(home: Path) -> None:
    folder = home / "configuration"
    (folder / "history-recall").mkdir(parents=True)
    (folder / "history-recall" / "config.toml").write_text('model = "openai/x"\nbatch_calls = 5\ndaily_calls = 7\n')
    env = {"HOME": str(home), "XDG_CONFIG_HOME": str(folder), "HISTORY_RECALL_BATCH_CALLS": "6"}
    settings = load(env)
    assert (settings.model, settings.batch_calls, settings.daily_calls) == ("openai/x", 6, 7)
    assert load(env, {"profile": "work"}).profile == "work"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BATCH_CALLS", "many"),
        ("BATCH_SESSIONS", "0"),
        ("CONCURRENCY", "33"),
        ("CONCURRENCY", "3.5"),
        ("DAILY_CALLS", "-1"),
        ("REPAIR", "sometimes"),
        ("PROFILE", "a/b"),
        ("CURRENT", "no-colon"),
        ("API_BASE", "127.0.0.1:8080/v1"),
        ("API_BASE", "http:///v1"),
    ],
)
def test_a_bad_value_is_named(name: str, value: str, home: Path) -> None:
    with pytest.raises(ArgumentError) as caught:
        load({"HOME": str(home), f"HISTORY_RECALL_{name}": value})
    assert caught.value.code == "usage"
    assert f"HISTORY_RECALL_{name}" in caught.value.message


def test_a_file_that_is_no_toml_is_named(home: Path) -> None:
    (home / ".config" / "history-recall").mkdir(parents=True)
    (home / ".config" / "history-recall" / "config.toml").write_text("model = ")
    with pytest.raises(ArgumentError, match=r"config\.toml"):
        load({"HOME": str(home)})


def test_relative_paths_are_made_absolute_once(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    settings = load({"HOME": str(home), "HISTORY_RECALL_DB": "here/index.db"})
    assert settings.database == tmp_path / "here" / "index.db"


def test_what_is_no_text_names_nothing(home: Path) -> None:
    settings = load({"HOME": f"{home}/\udcff"}, {"cwd": "/srv/\udcff\ud800"})
    assert (str(settings.home), settings.cwd) == (f"{home}/\ufffd", "/srv/\ufffd\ufffd")


def test_a_providers_own_base_counts_as_the_base(home: Path) -> None:
    env = {"HOME": str(home), "OPENAI_BASE_URL": "https://elsewhere.invalid/v1"}
    assert load(env | {"HISTORY_RECALL_MODEL": "openai/gpt-x"}).api_base == "https://elsewhere.invalid/v1"
    assert load(env | {"HISTORY_RECALL_MODEL": "anthropic/claude-x"}).api_base is None
    own = env | {"HISTORY_RECALL_MODEL": "openai/gpt-x", "HISTORY_RECALL_API_BASE": "https://mine.invalid"}
    assert load(own).api_base == "https://mine.invalid"
