"""`python -m recall` is the command line."""

from recall.surfaces.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
