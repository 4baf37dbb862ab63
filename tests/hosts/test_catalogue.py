"""What may be read, and that nothing else can be got to by any spelling of a path."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from recall.errors import SourceError
from recall.hosts.catalogue import Catalogue
from recall.hosts.paths import MAX_BYTES, contains, open_source
from recall.hosts.table import roots
from recall.settings import load
from recall.types import SourceRef
from tests.hosts.logs import FIXTURES, HEADER, entry, said, slot, write


def catalogue(home: Path, authorised: Sequence[tuple[str, str]] = (), **environment: str) -> Catalogue:
    return Catalogue(load({"HOME": str(home), **environment}), authorised)


def header(identity: str, **more: object) -> dict[str, object]:
    return HEADER | {"id": identity} | more


def listed(found: Catalogue) -> list[str]:
    return sorted(Path(item.source.path).name for item in found.listed()[0])


def refused(found: Catalogue, argument: object) -> str:
    with pytest.raises(SourceError) as error:
        found.resolve(str(argument))
    assert "secret" not in error.value.message
    return error.value.code


# --- roots ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, ["omp H/.omp/agent/sessions", "omp H/.omp/agent/archive/sessions", "pi H/.pi/agent/sessions"]),
        (
            {"PI_CONFIG_DIR": ".other"},
            ["omp H/.other/agent/sessions", "omp H/.other/agent/archive/sessions", "pi H/.pi/agent/sessions"],
        ),
        ({"PI_CODING_AGENT_DIR": "~/a"}, ["both H/a/sessions", "omp H/a/archive/sessions"]),
        (
            {"PI_CODING_AGENT_DIR": "H/.omp/profiles/office/agent"},
            ["omp H/.omp/agent/sessions", "omp H/.omp/agent/archive/sessions", "pi H/.pi/agent/sessions"],
        ),
        (
            {"PI_CODING_AGENT_DIR": "H/a", "OMP_PROFILE": "office"},
            ["omp H/.omp/agent/sessions", "omp H/.omp/agent/archive/sessions", "pi H/a/sessions"],
        ),
        (
            {"OMP_PROFILE": "office", "PI_PROFILE": "play"},
            ["omp H/.omp/agent/sessions", "omp H/.omp/agent/archive/sessions", "pi H/.pi/agent/sessions"],
        ),
        (
            {"HISTORY_RECALL_PROFILE": "office", "PI_CODING_AGENT_DIR": "H/a"},
            ["omp H/.omp/profiles/office/agent/sessions", "omp H/.omp/profiles/office/agent/archive/sessions"],
        ),
        ({"HISTORY_RECALL_PROFILE": "Work"}, []),
        (
            {"XDG_DATA_HOME": "H/xdg"},
            ["omp H/xdg/omp/sessions", "omp H/xdg/omp/archive/sessions", "pi H/.pi/agent/sessions"],
        ),
        (
            {"XDG_DATA_HOME": "H/none"},
            ["omp H/.omp/agent/sessions", "omp H/.omp/agent/archive/sessions", "pi H/.pi/agent/sessions"],
        ),
        (
            {"XDG_DATA_HOME": "H/xdg", "HISTORY_RECALL_PROFILE": "office"},
            ["omp H/xdg/omp/profiles/office/sessions", "omp H/xdg/omp/profiles/office/archive/sessions"],
        ),
        (
            {"XDG_DATA_HOME": "H/xdg", "HISTORY_RECALL_PROFILE": "play"},
            ["omp H/.omp/profiles/play/agent/sessions", "omp H/.omp/profiles/play/agent/archive/sessions"],
        ),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="OMP follows XDG on Linux and macOS only")
def test_roots(home: Path, environment: dict[str, str], expected: list[str]) -> None:
    (home / "xdg" / "omp" / "profiles" / "office").mkdir(parents=True)
    here = {key: value.replace("H/", f"{home}/") for key, value in environment.items()}
    found = [root for root in roots(load({"HOME": str(home), **here})) if root.host in ("", "omp", "pi")]
    assert [f"{root.host or 'both'} {str(root.path).replace(str(home), 'H')}" for root in found] == expected


# --- listing ----------------------------------------------------------------------------------------------------


def test_every_bucket_is_listed_newest_first_with_what_the_header_says(home: Path) -> None:
    root = home / ".omp" / "agent" / "sessions"
    for number, bucket in enumerate(
        ["--C--Users-ana-proj--", "D--oracle", "-home-ana-my-proj-", "u--home-k-htdocs-J-System"]
    ):
        path = write(
            root / bucket / f"t_{number}.jsonl", said("a1", None), header=header(f"id{number}", cwd=f"C:\\p\\{number}")
        )
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    write(home / ".pi" / "agent" / "sessions" / "--x--" / "t_p.jsonl", said("a1", None), header=header("p"))
    write(home / ".omp" / "agent" / "archive" / "sessions" / "-x" / "t_z.jsonl", said("a1", None), header=header("z"))
    (root / "-x").mkdir()
    (root / "-x" / "notes.txt").write_text("no log")
    found, warnings = catalogue(home).listed()
    assert warnings == []
    old = [item for item in found if item.header and item.header.host_conversation_id.startswith("id")]
    assert [item.header.cwd for item in old if item.header] == [f"C:\\p\\{number}" for number in (3, 2, 1, 0)]
    assert {(item.source.host, item.header.host_conversation_id) for item in found if item.header} >= {
        ("pi", "p"),
        ("omp", "z"),
    }
    assert len(found) == 6


def test_equal_times_are_listed_in_one_order(home: Path) -> None:
    for name in "cab":
        path = write(home / ".pi/agent/sessions/x" / f"{name}.jsonl", said("a1", None), header=header(name))
        os.utime(path, (1_700_000_000, 1_700_000_000))
    assert [Path(item.source.path).stem for item in catalogue(home).listed()[0]] == ["a", "b", "c"]


def test_subagents_belong_to_their_log(home: Path) -> None:
    bucket = home / ".omp/agent/sessions/-kiln"
    bucket.mkdir(parents=True)
    shutil.copy(FIXTURES / "omp.jsonl", bucket / "t_a.jsonl")
    shutil.copytree(FIXTURES / "omp", bucket / "t_a")
    (bucket / "t_a" / "scout.md").write_text("report")
    write(bucket / "t_a" / "deeper" / "x.jsonl", said("a1", None))
    found = catalogue(home)
    by_name = {Path(item.source.path).name: item for item in found.listed()[0]}
    assert sorted(by_name) == ["scout.jsonl", "t_a.jsonl"]
    scout = by_name["scout.jsonl"]
    assert scout.source.sidechain
    assert scout.source.parent_path == by_name["t_a.jsonl"].source.path
    assert scout.header is not None
    assert scout.header.sidechain
    assert all(found.resolve(item.source.path) == item.source for item in by_name.values())


def test_problems_are_states_and_not_the_end_of_the_listing(home: Path) -> None:
    bucket = home / ".omp/agent/sessions/-x"
    write(bucket / "good.jsonl", said("a1", None))
    write(bucket / "empty.jsonl")
    write(bucket / "zero.jsonl", header=None)
    write(bucket / "broken.jsonl", b"{broken header\n", header=None)
    with (bucket / "large.jsonl").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    os.mkfifo(bucket / "fifo.jsonl")
    os.symlink("/nowhere/x.jsonl", bucket / "link.jsonl")
    found, warnings = catalogue(home).listed()
    problems = {Path(item.source.path).stem: item.problem.code if item.problem else None for item in found}
    assert problems == {
        "good": None,
        "empty": "source_empty",
        "zero": "source_empty",
        "broken": "invalid_source",
        "large": "source_too_large",
    }
    assert [warning.code for warning in warnings] == ["symlink_skipped"]


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_a_warning(home: Path) -> None:
    bucket = home / ".omp/agent/sessions/-x"
    path = write(bucket / "a.jsonl", said("a1", None))
    write(home / ".omp/agent/sessions/-y" / "b.jsonl", said("a1", None))
    path.chmod(0)
    (home / ".omp/agent/sessions/-y").chmod(0)
    found, warnings = catalogue(home).listed()
    assert [item.problem.code for item in found if item.problem] == ["source_unreadable"]
    assert [warning.code for warning in warnings] == ["unreadable_folder"]


def test_a_folder_or_file_that_goes_away_is_a_warning(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".omp/agent/sessions/-x/a.jsonl", said("a1", None))
    real = os.scandir

    def broken(path: str) -> object:
        if str(path).endswith("-x"):
            raise PermissionError(13, "denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", broken)
    found, warnings = catalogue(home, [(str(home / "gone.jsonl"), "file"), (str(home / "gone"), "folder")]).listed()
    assert found == []
    assert sorted(warning.code for warning in warnings) == ["added_file_missing", "unreadable_folder"]


def test_a_file_is_listed_once_whichever_way_leads_to_it(home: Path, tmp_path: Path) -> None:
    path = write(home / ".omp/agent/sessions/-x/a.jsonl", said("a1", None))
    os.link(path, path.with_name("hard.jsonl"))
    added = [(str(path), "file"), (str(path.parent), "folder")]
    assert len(catalogue(home, added).listed()[0]) == 1
    shared = tmp_path / "both"
    write(shared / "sessions" / "b" / "omp.jsonl", slot("t"), header("o"), said("a1", None), header=None)
    write(shared / "sessions" / "b" / "pi.jsonl", said("a1", None), header=header("p"))
    found, _ = catalogue(home, PI_CODING_AGENT_DIR=str(shared)).listed()
    assert {Path(item.source.path).stem: item.source.host for item in found} == {"omp": "omp", "pi": "pi"}


def test_a_root_that_is_a_symlink_is_one_store(home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "real-sessions" / "b" / "a.jsonl", said("a1", None))
    (home / ".omp" / "agent").mkdir(parents=True)
    os.symlink(tmp_path / "real-sessions", home / ".omp/agent/sessions")
    found = catalogue(home)
    assert len(found.listed()[0]) == 1
    expected = SourceRef("omp", os.path.realpath(path))
    assert found.resolve(str(path)) == expected
    assert found.resolve(str(home / ".omp/agent/sessions/b/a.jsonl")) == expected
    assert found.resolve("~/.omp/agent/sessions/b/a.jsonl") == expected
    with open_source(expected) as file:
        assert file.read(2) == b'{"'


# --- resolving --------------------------------------------------------------------------------------------------


def test_siblings_dots_case_and_nul_do_not_get_in(home: Path) -> None:
    root = home / ".pi/agent/sessions"
    path = write(root / "a.jsonl", said("a1", None))
    write(root / "sub" / "b.jsonl", said("a1", None))
    write(home / ".pi/agent/sessions-evil" / "a.jsonl", said("a1", None))
    write(home / ".pi/agent" / "secret.jsonl", said("a1", None))
    found = catalogue(home)
    for allowed in (path, f"{root}//a.jsonl", f"{root}/sub/../a.jsonl", f"{root}/./a.jsonl"):
        assert found.resolve(str(allowed)).path == str(path)
    for denied in (
        f"{root}-evil/a.jsonl",
        f"{root}/../secret.jsonl",
        f"{root}/./../../../etc/passwd",
        "sessions/a.jsonl",
        "a.jsonl",
        "",
        str(root).replace("sessions", "SESSIONS") + "/a.jsonl",
        f"{path}\x00.txt",
        str(root),
        f"{root}/sub",
        f"{root}/a.txt",
        f"{root}/1/2/3/4.jsonl",
        "/" + "x" * 5000 + ".jsonl",
        "\udc00\ud800/x.jsonl",
        "/\ud800/x.jsonl",
        "cursor:abc",
    ):
        assert refused(found, denied) == "not_authorised", denied
    assert refused(found, root / "missing.jsonl") == "source_missing"


def test_links_below_a_root_lead_nowhere(home: Path, tmp_path: Path) -> None:
    root = home / ".pi/agent/sessions"
    outside = write(tmp_path / "outside" / "secret.jsonl", said("a1", None))
    good = write(root / "ok.jsonl", said("a1", None))
    os.symlink(outside, root / "link.jsonl")
    os.symlink(outside.parent, root / "dir")
    os.symlink("/nowhere", root / "dangling.jsonl")
    os.symlink("self.jsonl", root / "self.jsonl")
    os.symlink(good, root / "inner.jsonl")
    os.mkfifo(root / "fifo.jsonl")
    found = catalogue(home)
    assert found.resolve(str(good)).path == str(good)
    for name in ("link.jsonl", "dir/secret.jsonl", "dangling.jsonl", "self.jsonl", "inner.jsonl"):
        assert refused(found, root / name) == "not_authorised"
        with pytest.raises(SourceError) as error:
            open_source(SourceRef("pi", str(root / name)))
        assert error.value.code == "not_authorised"
    assert refused(found, root / "fifo.jsonl") == "unsupported_source"
    assert listed(found) == ["ok.jsonl"]


def test_opening_refuses_what_a_path_has_become(tmp_path: Path) -> None:
    path = write(tmp_path / "d" / "a.jsonl", said("a1", None))
    source = SourceRef("pi", str(path))
    open_source(source).close()
    (tmp_path / "d").rename(tmp_path / "e")
    os.symlink(tmp_path / "e", tmp_path / "d")
    with pytest.raises(SourceError, match="not_authorised"):
        open_source(source)
    os.mkfifo(tmp_path / "fifo.jsonl")
    for path, code in (
        (tmp_path / "fifo.jsonl", "unsupported_source"),
        (tmp_path / "e", "unsupported_source"),
        (tmp_path / "none.jsonl", "source_missing"),
        (Path("relative.jsonl"), "not_authorised"),
        (Path("/dev/null"), "unsupported_source"),
        (Path("/x\x00y"), "not_authorised"),
    ):
        with pytest.raises(SourceError) as error:
            open_source(SourceRef("pi", str(path)))
        assert error.value.code == code


def test_the_size_limit_is_inclusive(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES)
    open_source(SourceRef("pi", str(path))).close()
    with path.open("ab") as file:
        file.write(b"x")
    with pytest.raises(SourceError, match="source_too_large"):
        open_source(SourceRef("pi", str(path)))


def test_containment_is_by_component() -> None:
    assert contains(Path("/srv/share"), Path("/srv/share/a"))
    assert not contains(Path("/srv/share"), Path("/srv/share"))
    assert not contains(Path("/srv/share"), Path("/srv/share-evil/a"))


def test_both_ids_find_a_conversation(home: Path) -> None:
    path = write(
        home / ".omp/agent/sessions/-x/2026-01-01T00-00-00-000Z_name-id.jsonl",
        said("a1", None),
        header=header("head-id"),
    )
    found = catalogue(home)
    assert found.resolve("omp:head-id").path == str(path)
    assert found.resolve("omp:name-id").path == str(path)
    assert len(found.listed()[0]) == 1
    assert refused(found, "pi:head-id") == "source_missing"
    assert refused(found, "omp:") == "source_missing"


def test_the_running_conversation_is_not_resolved(home: Path) -> None:
    bucket = home / ".omp/agent/sessions/-x"
    path = write(bucket / "t_now.jsonl", said("a1", None), header=header("now"))
    other = write(bucket / "t_old.jsonl", said("a1", None), header=header("old"))
    agent = write(bucket / "t_now" / "s.jsonl", said("a1", None), header=header("s", parentSession="now"))
    found = catalogue(home, HISTORY_RECALL_CURRENT="omp:now")
    assert refused(found, path) == "current_conversation"
    assert refused(found, "omp:now") == "current_conversation"
    assert found.resolve("omp:now", running=True) == found.resolve(str(path), running=True)
    assert refused(found, agent) == "current_conversation"
    assert found.resolve(str(other)).path == str(other)
    assert {Path(item.source.path).stem: found.is_current(item) for item in found.listed()[0]} == {
        "t_now": True,
        "t_old": False,
        "s": True,
    }


# --- what a user adds -------------------------------------------------------------------------------------------


def test_a_file_authorises_itself_and_its_subagents(home: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "logs" / "a.jsonl", said("a1", None))
    write(tmp_path / "logs" / "b.jsonl", said("a1", None))
    write(tmp_path / "logs" / "a" / "scout.jsonl", said("a1", None))
    write(tmp_path / "logs" / "b" / "scout2.jsonl", said("a1", None))
    found = catalogue(home, [catalogue(home).authorise(str(path))])
    assert listed(found) == ["a.jsonl", "scout.jsonl"]
    assert all(found.resolve(item.source.path) == item.source for item in found.listed()[0])
    assert refused(found, tmp_path / "logs" / "b.jsonl") == "not_authorised"
    assert refused(found, tmp_path / "logs" / "b" / "scout2.jsonl") == "not_authorised"


def test_a_folder_authorises_the_logs_directly_in_it(home: Path, tmp_path: Path) -> None:
    write(tmp_path / "logs" / "a.jsonl", said("a1", None))
    write(tmp_path / "logs" / "a" / "scout.jsonl", said("a1", None))
    write(tmp_path / "logs" / "other" / "c.jsonl", said("a1", None))
    write(tmp_path / "logs" / "a" / "x" / "d.jsonl", said("a1", None))
    (tmp_path / "logs" / "e.txt").write_text("x")
    added = catalogue(home).authorise(str(tmp_path / "logs"))
    assert added == (str(tmp_path / "logs"), "folder")
    found = catalogue(home, [added])
    assert listed(found) == ["a.jsonl", "scout.jsonl"]
    assert all(found.resolve(item.source.path) == item.source for item in found.listed()[0])
    for name in ("other/c.jsonl", "a/x/d.jsonl", "e.txt"):
        assert refused(found, tmp_path / "logs" / name) == "not_authorised"


@pytest.mark.parametrize(
    ("parts", "host"),
    [
        ([slot("t"), HEADER, said("a1", None)], "omp"),
        ([HEADER | {"titleSource": "auto"}, said("a1", None)], "omp"),
        ([HEADER, entry("mode_change", mode="plan")], "omp"),
        ([HEADER, entry("model_change", model="a/b")], "omp"),
        ([HEADER, entry("custom", customType="session_exit")], "omp"),
        ([HEADER, entry("model_change", provider="a", modelId="b")], "pi"),
        ([HEADER, said("a1", None)], "pi"),
    ],
)
def test_the_host_of_an_added_log_is_what_its_content_says(
    home: Path, tmp_path: Path, parts: list[object], host: str
) -> None:
    path = write(tmp_path / "a.jsonl", *parts, header=None)
    found = catalogue(home, [(str(path), "file")])
    assert found.resolve(str(path)).host == host
    header_found = found.listed()[0][0].header
    assert header_found is not None
    assert header_found.host == host


def test_what_cannot_be_added(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = catalogue(home)
    good = write(tmp_path / "a.jsonl", said("a1", None))
    os.symlink(good, tmp_path / "link.jsonl")
    os.symlink(tmp_path, tmp_path / "folder-link")
    os.mkfifo(tmp_path / "fifo.jsonl")
    (tmp_path / "a.txt").write_text("x")
    with (tmp_path / "large.jsonl").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    for argument, code in (
        (tmp_path / "link.jsonl", "not_authorised"),
        (tmp_path / "fifo.jsonl", "unsupported_source"),
        (tmp_path / "a.txt", "unsupported_source"),
        (tmp_path / "large.jsonl", "source_too_large"),
        (tmp_path / "none.jsonl", "source_missing"),
        (home, "not_authorised"),
        (home.parent, "not_authorised"),
        ("~", "not_authorised"),
        ("/", "not_authorised"),
        ("/x\x00", "not_authorised"),
        ("/\ud800", "not_authorised"),
        ("", "not_authorised"),
    ):
        with pytest.raises(SourceError) as error:
            found.authorise(str(argument))
        assert error.value.code == code, argument
    assert found.authorise(str(tmp_path / "folder-link")) == (str(tmp_path), "folder")
    monkeypatch.chdir(tmp_path)
    assert found.authorise("a.jsonl") == (str(good), "file")
