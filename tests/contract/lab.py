"""A lab in one breath, to be killed: starts the framework in a folder and holds it.

Usage: lab.py FOLDER PROGRAM GRACE_S; the program is one of `small_servers`, or `ROOTED`.
"""

from __future__ import annotations

import signal
import sys
import time
from pathlib import Path

import rooted
import small_servers
from plimsoll.install import install
from plimsoll.serving.server import started


def main() -> None:
    # Whoever starts the tests in the background, or by `nohup`, has them ignore these.
    for number in (signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    folder, program, grace_s = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    if program == "ROOTED":
        subject = rooted.framework(folder)
        install.build(subject)
    else:
        subject = small_servers.framework(folder, getattr(small_servers, program))
    with started(subject, log=folder / "log", grace_s=grace_s) as server:
        try:
            print("ready", flush=True)
            time.sleep(600)
        finally:
            print(server.stop(), flush=True)


main()
