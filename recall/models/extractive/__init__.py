"""The built-in extractive analyser: what `recall.models.offline` answers with.

`words` are data (common words), `cues` are data (the words that carry a status); `terms` cuts text into weighed terms
and phrases, `sentences` into quotable spans; `scopes` finds where the vocabulary shifts; `findings` reads statuses;
`analysis`, `reduce` and `placement` each answer one kind of task. Nothing here knows of databases, requests or time.
"""
