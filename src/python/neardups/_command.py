"""The command `dedup`."""

import signal
import sys

from neardups import _native


def main() -> None:
    """Runs the command line of this process, and exits with its status."""
    # The command handles signals itself. With the handler of Python, Ctrl-C would wait for its end.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(_native.run_command(["dedup", *sys.argv[1:]]))
