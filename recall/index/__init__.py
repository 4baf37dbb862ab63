"""The index file: schema, transactions, and what is read from and written to it."""
