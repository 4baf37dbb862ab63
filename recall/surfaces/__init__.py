"""The faces of the operations: the command line, and what it prints."""
