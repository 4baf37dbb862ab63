"""Each sentence of the design of projects, and the test that holds it: none is without one, and every one is there."""

from __future__ import annotations

import ast
import importlib

import pytest

from tests.shared import ROOT, SHARED, needs_shared

TABLE = {
    # where a project comes from, best first
    "This always wins and is never overwritten": "projects.test_moving::test_nothing_overwrites_it",
    "A fork inherits its parent's project": "projects.test_moving::test_a_fork_inherits_and_is_moved_apart",
    "a continuation follows its conversation": (
        "projects.test_rows::test_what_comes_from_a_moved_conversation_is_where_that_one_is"
    ),
    "Moving out is a decision of the user as well": "projects.test_attribution::test_moved_out_is_a_decision_as_well",
    "in the conversation's directory itself (not a parent)": (
        "projects.test_places::test_the_marker_counts_in_the_folder_itself_only"
    ),
    'means "not bound"': "projects.test_places::test_anything_else_in_a_marker_means_not_bound_and_stays",
    'says "the same project"': "projects.test_identity_searched::test_a_folder_that_was_copied_with_its_marker",
    "the longest bound ancestor wins": "projects.test_identity_searched::test_the_longest_bound_folder_wins",
    "component by component": "projects.test_folders::test_what_lies_in_what",
    "case folded where the file system does": (
        "projects.test_folders::test_a_file_system_that_does_not_tell_case_apart"
    ),
    "taken over as a binding when the user says so": (
        "projects.test_assigning::test_what_is_indexed_afterwards_goes_by_the_record"
    ),
    "becomes a project only when the user binds it": (
        "projects.test_places::test_a_group_is_a_filter_and_a_project_only_when_it_is_bound"
    ),
    "two clones are two": ("projects.test_identity_searched::test_worktrees_of_one_repository_and_a_second_clone"),
    "exactly one project named in the user's own words": (
        "projects.test_scope::test_mentions_are_inferred_unless_that_is_off"
    ),
    "Two names: no guess": "projects.test_attribution::test_two_names_are_no_guess",
    "No project is not a project": "projects.test_scope::test_none_is_not_a_project",
    # frozen identity
    "Losing the marker": "projects.test_identity_searched::test_a_folder_whose_marker_was_deleted",
    "moving or renaming the folder": (
        "projects.test_identity_searched::test_a_folder_that_was_renamed_with_its_marker"
    ),
    "opening it through a symlink": "projects.test_identity_searched::test_a_folder_that_is_opened_through_a_link",
    "points a new folder at the old id and moves no data": (
        "projects.test_places::test_a_renamed_folder_without_its_marker_is_recognised_and_never_rebound_by_itself"
    ),
    "takes an id that has conversations but no binding left": (
        "projects.test_identity_searched::test_after_the_bindings_were_lost"
    ),
    "refuses the home folder": "projects.test_places::test_home_what_is_above_it_and_the_root_are_refused",
    "atomically": "projects.test_places::test_writers_of_a_marker_that_race_leave_one_and_never_a_piece",
    "only after the user agreed": "projects.test_moving::test_an_agent_binds_only_with_the_users_yes",
    "remembers a no for 30 days": "projects.test_places::test_a_no_is_kept_for_thirty_days",
    "never inside conversation text": "projects.test_rows::test_an_offer_stands_beside_what_history_says",
    "again and again with the same result": (
        "projects.test_places::test_after_a_lost_index_the_marker_leads_to_the_same_id"
    ),
    "suggested with its counts, never rebound by itself": (
        "projects.test_identity_searched::"
        "test_a_folder_that_was_renamed_without_a_marker_is_nobodys_until_it_is_bound_again"
    ),
    "Archiving keeps its conversations": (
        "projects.test_identity_searched::test_an_archived_project_keeps_what_it_holds"
    ),
    "deleting a project that has any is refused": (
        "projects.test_moving::test_a_project_with_conversations_is_not_deleted"
    ),
    # moving
    "continuations after a compaction move along": (
        "projects.test_moving::test_a_continuation_moves_along_and_so_does_what_was_indexed_before_it"
    ),
    "nothing is analysed again": "projects.test_rows::test_a_move_asks_no_model_and_writes_one_thing",
    "A search that starts after it sees the new place": (
        "projects.test_moved_in_processes::test_before_during_and_after_an_index_run"
    ),
    "The running conversation, not indexed yet, can be moved too": (
        "projects.test_moving::test_before_it_is_indexed_also_the_running_one"
    ),
    "reports\nhonestly when that is not possible": "projects.test_moving::test_with_cwd_says_what_became_of_it",
    # scopes
    "default when no project is current": "projects.test_scope::test_project_finds_this_project_only",
    "ordered in tiers": (
        "projects.test_scope::test_prefer_is_the_default_where_a_project_is_current_and_shows_all_by_tier"
    ),
    "at least one in five places": ("projects.test_rows::test_of_five_places_one_is_for_a_better_hit_from_elsewhere"),
    "filtered in SQL before any limit": "projects.test_rows::test_the_project_is_chosen_before_anything_is_cut",
    "a named empty answer (`no_project`), never silently everything": (
        "projects.test_scope::test_no_project_is_a_named_empty_answer"
    ),
    "for each hit its project and tier": (
        "projects.test_scope::test_every_answer_says_scope_project_tier_and_how_many"
    ),
    "The current conversation is\nleft out": (
        "projects.test_scope::test_the_running_conversation_says_which_project_and_is_left_out"
    ),
    "byte for byte what `all` gives": (
        "projects.test_scope::test_with_no_project_anywhere_prefer_is_all_byte_for_byte"
    ),
    "An unknown project is an error": "projects.test_scope::test_an_unknown_project_is_an_error",
    "a project with no other conversations says so": (
        "projects.test_rows::test_browsing_a_project_with_the_running_conversation_alone"
    ),
    "An agent cannot widen its scope": "projects.test_scope::test_agents_do_not_go_beyond_their_scope",
    # bringing old data in
    "lists what would be assigned": "projects.test_assigning::test_dry_run_assign_and_revert",
    "undoes it exactly": "projects.test_killed::test_assign_and_revert",
    "Only rows of the named source are touched": "projects.test_assigning_real::test_hermes",
    "What cannot be placed stays where it is and is listed": "projects.test_assigning_real::test_opencode",
    # brief
    "a bounded block": "projects.test_brief::test_bounded_cited_fenced_and_the_same_each_time",
    "deduplicated by evidence": ("projects.test_brief::test_the_same_words_are_said_once_and_a_label_is_not_repeated"),
    "superseded findings left out": "projects.test_brief::test_what_was_replaced_is_left_out",
    "It is never injected by itself": (
        "surfaces.test_packages::test_nothing_is_said_at_the_start_unless_the_person_turns_it_on"
    ),
    # what each failure answers
    "| a host's database is not there |": "projects.test_rows::test_a_host_without_its_database_is_named_and_no_more",
    "| the host's project records are not there |": (
        "projects.test_rows::test_without_the_hosts_own_records_the_repository_still_tells"
    ),
    "| no directory and no repository known for the current conversation |": (
        "projects.test_rows::test_without_a_known_folder_no_project_is_current"
    ),
    "| no other conversation in the project |": (
        "projects.test_scope::test_the_running_conversation_says_which_project_and_is_left_out"
    ),
    "| a query the text index cannot take |": (
        "projects.test_scope::test_a_query_that_the_text_index_cannot_take_is_answered_in_a_project_too"
    ),
    "| no model, no consent, model down |": "indexing.test_rewriting::test_what_stands_in_the_way_is_a_status",
    "| move to an unknown project |": "projects.test_moving::test_what_is_unknown_is_named",
    "| its folder is gone |": "projects.test_rows::test_a_folder_that_is_gone_stops_no_move",
    "| git cannot be asked |": "projects.test_places::test_what_git_cannot_be_asked_about_is_in_no_group",
}


@pytest.mark.parametrize("held", sorted(set(TABLE.values())))
def test_the_test_is_there(held: str) -> None:
    module, name = held.split("::")
    tree = ast.parse((ROOT / "tests" / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert callable(getattr(importlib.import_module(f"tests.{module}"), name))


@needs_shared
def test_the_sentence_is_there() -> None:
    design = (SHARED / "design" / "projects.md").read_text(encoding="utf-8")
    assert [sentence for sentence in TABLE if sentence not in design] == []


@needs_shared
def test_every_row_of_the_failure_table_has_one() -> None:
    design = (SHARED / "design" / "projects.md").read_text(encoding="utf-8")
    rows = design.partition("## What each failure answers")[2].partition("\n\n")[0].splitlines()[3:]
    assert len(rows) >= 9
    assert [row for row in rows if not any(row.startswith(sentence) for sentence in TABLE)] == []
