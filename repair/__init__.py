"""Topic repair: a bounded child that reads originals, drafts topic changes, and proves what it read."""
