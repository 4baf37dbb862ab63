"""Reading a bundle's file: whether it is one, and whether each of its cells is such as an export of ours writes.

A bundle is data that anybody may have written. Its tables, columns and cells have to be such as an export of ours
writes (`bundle_rules`), and every text of it is redacted by our rules.
"""

from __future__ import annotations

import json
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from recall import bundle_rules
from recall.bundle import FORMAT, TABLES, VERSION, Table, redacted
from recall.errors import ArgumentError
from recall.index.file import SCHEMA_VERSION
from recall.redact import redact_text

_HINT = "export it again with the program of this version: `history-recall export --output FILE`"
_MOST_GENERATIONS = 2**40


Row = dict[str, Any]
Tables = Mapping[str, list[Row]]


def _checked(table: Table, rows: Iterable[Row]) -> list[Row]:
    """The rows of a table, each such as we write, with its text redacted by our rules: nobody vouches for a bundle."""
    checked: list[Row] = []
    numbers: set[int] = set()
    for row in rows:
        if (reason := bundle_rules.broken(table.name, row)) is not None:
            raise invalid(reason)
        identity = row.get("host_conversation_id")
        if identity is not None and redact_text(identity) != identity:
            raise invalid(f"an id in its table {table.name} looks like a secret")
        if table.key is not None and row[table.key] in numbers:
            raise invalid(f"its table {table.name} has a number twice")
        numbers.add(row[table.key] if table.key is not None else -1)
        try:
            checked.append({n: redacted(n, v) if n in table.texts else v for n, v in row.items()})
        except RecursionError as error:
            raise invalid(f"JSON in its table {table.name} is nested too deep") from error
    return checked


def _check_topics(tables: Tables) -> None:
    """A facet is in a live topic, and what was merged leads to one that was not."""
    topics = {row["topic_no"]: row for row in tables["topics"]}
    for row in tables["memberships"]:
        if row["topic_no"] in topics and topics[row["topic_no"]]["state"] != "live":
            raise invalid("a facet of it is in a topic that is not live")
    for row in topics.values():
        passed: set[int] = set()
        at = row["topic_no"]
        while at in topics and topics[at]["merged_into"] is not None:
            if at in passed:
                raise invalid("its topics were merged in a circle")
            passed.add(at)
            at = topics[at]["merged_into"]


def read(argument: str) -> tuple[Tables, int]:
    """The tables of a bundle as checked rows by name, and its generation. Raises ArgumentError `invalid_bundle`."""
    path = Path(argument).expanduser()
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise invalid(f"{argument} is no file", "give the path of the bundle that `export` wrote")
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise invalid(f"there is no file {argument}", "give the path of the bundle that `export` wrote") from error
    except OSError as error:
        raise invalid(f"{argument} cannot be read: {error.strerror}", "check the path and its permissions") from error
    except (ValueError, RecursionError) as error:
        raise invalid("it is no JSON") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT or document.get("version") != VERSION:
        raise invalid("it is no bundle of a profile")
    if document.get("schema") != SCHEMA_VERSION:
        raise invalid(f"it has schema {document.get('schema')!r:.40}, this program reads {SCHEMA_VERSION}")
    tables, generation = document.get("tables"), document.get("generation")
    if not isinstance(tables, dict) or set(tables) != {t.name for t in TABLES}:
        raise invalid("its tables are not ours")
    if type(generation) is not int or not 0 <= generation < _MOST_GENERATIONS:
        raise invalid("its generation is no number of ours")
    rows = {table.name: _checked(table, _table(table, tables[table.name])) for table in TABLES}
    _check_topics(rows)
    return rows, generation


def _table(table: Table, given: Any) -> list[Row]:
    if not isinstance(given, dict) or not isinstance(given.get("rows"), list):
        raise invalid(f"its table {table.name} cannot be read")
    columns = given.get("columns")
    if not isinstance(columns, list) or sorted(map(str, columns)) != sorted(bundle_rules.RULES[table.name]):
        raise invalid(f"the columns of its table {table.name} are not ours")
    if any(not isinstance(row, list) or len(row) != len(columns) for row in given["rows"]):
        raise invalid(f"its table {table.name} cannot be read")
    return [dict(zip(columns, row, strict=True)) for row in given["rows"]]


def invalid(reason: str, hint: str = _HINT) -> ArgumentError:
    """A bundle that was refused, with the reason."""
    return ArgumentError("invalid_bundle", f"The bundle was not taken in: {reason}", hint)
