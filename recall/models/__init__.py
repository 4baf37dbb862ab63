"""The one road to a model: cache, consent, charge, deadline, send, settle, validate."""
