"""Paths of this machine and of others, compared component by component."""

from __future__ import annotations

import pytest

from recall.folders import Folder, parse


def folder(path: str) -> Folder:
    found = parse(path)
    assert found is not None, path
    return found


@pytest.mark.parametrize(
    ("path", "of", "inside"),
    [
        ("/srv/share", "/srv/share", True),
        ("/srv/share/", "/srv/share", True),
        ("/srv/share/a/b", "/srv/share", True),
        ("/srv/share-old", "/srv/share", False),
        ("/srv/share/../other", "/srv/share", False),
        ("/srv//share/./x", "/srv/share", True),
        ("/Srv/share", "/srv/share", False),
        ("/srv/caf\u00e9", "/srv/cafe\u0301", True),
        ("/anything", "/", True),
        ("C:\\Work\\app", "c:\\work", True),
        ("c:/sites/app", "C:\\Sites\\App\\", True),
        ("C:\\Workshop", "C:\\Work", False),
        ("D:\\work", "C:\\work", False),
        ("\\\\?\\C:\\Work\\x", "c:\\work", True),
        ("\\\\Server\\Share\\a", "\\\\server\\share", True),
        ("\\\\?\\UNC\\server\\share\\a", "\\\\server\\share", True),
        ("/home/dev", "C:\\home\\dev", False),
        ("C:\\Users\\me\\..\\you", "C:\\Users\\you", True),
    ],
)
def test_what_lies_in_what(path: str, of: str, inside: bool) -> None:
    assert folder(path).is_in(folder(of)) is inside


def test_a_file_system_that_does_not_tell_case_apart() -> None:
    assert folder("/Users/Me/Code").is_in(folder("/users/me"), folds=True)


@pytest.mark.parametrize("path", ["", "work", "./work", "C:work", "\\work", "a\x00b", "~/work", None])
def test_what_is_no_absolute_folder(path: str | None) -> None:
    assert parse(path) is None


def test_what_lies_on_another_machine_is_known() -> None:
    assert folder("\\\\server\\share\\x").is_share
    assert not folder("C:\\x").is_share
    assert folder("/").is_root
    assert folder("C:\\").is_root
