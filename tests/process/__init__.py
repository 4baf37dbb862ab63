"""What is left after a kill, an interrupt, a full disk, a damaged file, and when many processes work at once."""
