"""What an entry has to be to be found, as conditions in SQL and as words of the text index's scope column."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

from recall.index import fulltext
from recall.timewindow import ALWAYS, Window
from recall.types import ROLES

MOST_MONTHS = 24  # a window of more is not asked of the index: it leaves too much


_UNIQUE = 16  # an id of so many characters is nobody else's; shorter ones are unique in their conversation


def same_record(one: str, other: str) -> str:
    """The condition on two rows of entries that one is a copy of the other, as forks begin with copies.

    The bytes say so, or an id that is unique everywhere together with the text: some hosts write the id of the fork
    into every copy. `one` is looked up by `other`: of an id that is not unique (a line's number stands in every
    conversation) the index reads the rows of the same bytes only.
    """
    unique = f"length({other}.entry_id) >= {_UNIQUE}"
    alike = f"{unique} AND {one}.role = {other}.role AND {one}.text = {other}.text"
    least, most = f"iif({unique}, '', {other}.sha256)", f"iif({unique}, 'g', {other}.sha256)"  # a hash is hexadecimal
    return f"""{one}.entry_id = {other}.entry_id AND {one}.sha256 BETWEEN {least} AND {most}
               AND ({one}.sha256 = {other}.sha256 OR ({alike}))"""


@dataclass(frozen=True, slots=True)
class Filters:
    """What a match has to be. `hidden` are marks that keep an entry out; numbers, not ids.

    `seen` are those of the conversations in `without` that a reader has seen: copies of their entries are out as well.
    The running conversation is none of them, for what a compaction took from it can stand in the one it came from.
    """

    profile_no: int
    roles: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    delegates: bool = False
    automation: bool = False
    archived: bool = False
    window: Window = ALWAYS
    conversation_no: int | None = None
    topic_nos: tuple[int, ...] | None = None
    without: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    without_entries: tuple[tuple[int, str], ...] = ()
    narrow_roles: bool = False
    project_no: int | None = None
    git_group: str | None = None

    def conversations(self) -> str:
        """The condition on a conversation `c`."""
        clauses = ["c.profile_no = :profile"]
        if self.conversation_no is not None:  # what is asked for by name is not hidden
            clauses.append("c.conversation_no = :conversation")
        else:
            shown = {"sidechain": self.delegates, "automation": self.automation, "archived": self.archived}
            clauses += [f"c.{column} = 0" for column, asked in shown.items() if not asked]
        if self.without:
            clauses.append("c.conversation_no NOT IN (SELECT value FROM json_each(:without))")
        if self.project_no is not None:
            clauses.append("c.project_no = :project")
        if self.git_group is not None:
            clauses.append("c.git_group = :group")
        if self.topic_nos is not None:
            clauses.append("""c.conversation_no IN (
                SELECT f.conversation_no FROM memberships AS m JOIN facets AS f USING (facet_no)
                WHERE m.topic_no IN (SELECT value FROM json_each(:topics)))""")
        return " AND ".join(clauses)

    def of_place(self) -> Filters:
        """The profile, or the one project of it, that these look into, with all that it holds."""
        every = Filters(self.profile_no, ROLES, delegates=True, automation=True, archived=True)
        return replace(every, project_no=self.project_no, git_group=self.git_group)

    def entries(self) -> str:
        """The condition on an entry `e` of a conversation `c`."""
        clauses = [self.conversations(), f"e.role IN ({self._roles()})"]
        if self.hidden:
            hidden = " AND ".join(f"instr(' ' || e.marks || ' ', ' {mark} ') = 0" for mark in self.hidden)
            clauses.append(f"(e.marks = 'active' OR ({hidden}))")
        if self.window.start is not None:
            clauses.append("e.at >= :start")
        if self.window.end is not None:
            clauses.append("e.at < :end")
        if self.seen:
            clauses.append(f"""NOT EXISTS (
                SELECT 1 FROM entries AS copy
                WHERE {same_record("copy", "e")} AND copy.conversation_no IN (SELECT value FROM json_each(:seen)))""")
        if self.without_entries:  # each with its copies, of which it is one itself
            clauses.append(f"""NOT EXISTS (
                SELECT 1 FROM json_each(:seen_entries) AS s CROSS JOIN entries AS copy
                WHERE s.value ->> 1 = e.entry_id AND {same_record("copy", "e")}
                  AND copy.conversation_no = s.value ->> 0)""")
        return " AND ".join(clauses)

    def values(self) -> dict[str, object]:
        """The parameters of both conditions."""
        return {
            "profile": self.profile_no,
            "conversation": self.conversation_no,
            "start": self.window.start,
            "end": self.window.end,
            "without": json.dumps(self.without),
            "seen": json.dumps(self.seen),
            "seen_entries": json.dumps(self.without_entries),
            "topics": json.dumps(self.topic_nos),
            "project": self.project_no,
            "group": self.git_group,
        }

    def scope(self, earliest: int | None, latest: int | None) -> list[list[str]]:
        """Words of the scope column that say the same as a part of the conditions, where that leaves little.

        `earliest` and `latest` are the times of the first and the last entry there is: a window may be open.
        """
        narrow: list[list[str]] = []
        if self.conversation_no is not None:
            narrow.append([self.word_of_conversation(self.conversation_no)])
        if self.narrow_roles:
            narrow.append([fulltext.SCOPE + role for role in self.roles])
        if self.window and earliest is not None and latest is not None:
            start = earliest if self.window.start is None else max(earliest, self.window.start)
            end = latest if self.window.end is None else min(latest, self.window.end - 1)
            months = range(fulltext.month(start), fulltext.month(end) + 1)
            if len(months) <= MOST_MONTHS:
                narrow.append([f"{fulltext.SCOPE}m{month}" for month in months])
        return narrow

    @property
    def chooses_conversations(self) -> bool:
        """Whether they leave only some conversations, by what the text index does not know of them."""
        return any(chosen is not None for chosen in (self.project_no, self.git_group, self.topic_nos))

    @property
    def beyond(self) -> str | None:
        """The condition on a conversation `c` of lying outside the project that is looked into; None without one."""
        if self.project_no is not None:
            return "c.project_no IS NOT :project"
        return "c.git_group IS NOT :group" if self.git_group is not None else None

    def word_of_conversation(self, number: int) -> str:
        """The word of the scope column that the entries of a conversation have."""
        return f"{fulltext.SCOPE}c{number}"

    def _roles(self) -> str:
        """As constants: a list that is bound is read again for every entry that is looked at."""
        return ", ".join(f"'{role}'" for role in ROLES if role in self.roles)
