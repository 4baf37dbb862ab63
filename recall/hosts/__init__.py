"""Host programs: how each stores its conversations."""
