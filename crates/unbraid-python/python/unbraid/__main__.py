"""The command ``unbraid``: ``python -m unbraid`` is the same."""

import os
import shutil
import signal
import sys
import sysconfig

from ._native import main as _main


def _program() -> str | None:
    """The script that pip installed, with which the command starts itself again for the runs of a study."""
    name = "unbraid.exe" if os.name == "nt" else "unbraid"
    installed = os.path.join(sysconfig.get_path("scripts"), name)
    return installed if os.path.isfile(installed) else shutil.which("unbraid")


def main() -> int:
    """Runs the command with the arguments of this process, and returns its exit code."""
    # The command handles signals itself; Python would only remember them until it has ended.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _main(["unbraid", *sys.argv[1:]], _program())


if __name__ == "__main__":
    sys.exit(main())
