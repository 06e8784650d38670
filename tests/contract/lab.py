"""A lab in one breath, to be killed: starts the framework in a folder and holds it.

Usage: lab.py FOLDER PROGRAM GRACE_S
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import small_servers
from plimsoll.conduct.server import started


def main() -> None:
    folder, program, grace_s = Path(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    subject = small_servers.framework(folder, getattr(small_servers, program))
    with started(subject, log=folder / "log", grace_s=grace_s) as server:
        print("ready", flush=True)
        try:
            time.sleep(600)
        finally:
            print(server.stop(), flush=True)


main()
