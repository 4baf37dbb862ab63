"""The tests. A package only so that `from tests.shared import …` means this folder."""
