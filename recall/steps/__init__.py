"""The steps of curation: each takes frozen values and returns one."""
