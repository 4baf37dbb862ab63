"""The built-in extractive analyser: what `recall.models.offline` answers with.

`words` and `cues` are data: common words, and the words that carry a status. `terms` cuts text into weighed terms and
phrases, `repeats` finds the words of Han script, `sentences` and `prose` find what can be quoted, `status` reads what
a sentence speaks for, `claims` whether it can stand alone, `scopes` finds where the vocabulary shifts, `titles` names
a scope. `analysis`, `reduce` and `placement` each answer one kind of task. Nothing here knows of databases, requests
or time.
"""
