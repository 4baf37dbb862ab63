"""The way in: the command `history-recall`, and `python -m recall`.

Until the command line has handlers of its own, and after it, Ctrl-C ends the process as it ends any other program:
at once, and without a traceback.
"""

import signal


def main() -> int:
    """Run the command line; returns the exit code."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from recall.surfaces.cli import main as run

    return run()


if __name__ == "__main__":
    raise SystemExit(main())
