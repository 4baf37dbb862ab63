"""history-recall: agent conversations, indexed when asked, found again with evidence."""

__version__ = "0.1.0"
