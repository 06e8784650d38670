"""Stand-ins for foreign load tools: small programs that print what they are told to.

`installed(folder, name, …)` makes one under the tool's name in a folder for the PATH. It writes its
arguments to `arguments.txt` where it runs, and then does what it is told to, in this order:

- `version`: what it says when it is asked for its version, which it does nothing else for
- `writes`: writes these files, by name
- `prints`: says this on its standard output
- `complains`: says this on its standard error
- `on_signal`: waits for SIGINT, says this, and ends with exit code 0
- `deaf`: ignores SIGINT and waits for ever
- `closes`: closes its standard output first, and goes on
- `dies`: ends itself by this signal
- `exits`: ends with this exit code
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

BODY = """
import json, os, signal, sys
does = json.loads({does!r})
if sys.argv[1:] in (["-v"], ["-V"], ["--version"]):
    print(does.get("version", ""))
    sys.exit(does.get("exits", 0))
with open("arguments.txt", "a") as kept:
    kept.write(json.dumps(sys.argv) + "\\n")
for name, text in does.get("writes", {{}}).items():
    with open(name, "w") as file:
        file.write(text)
if "on_signal" in does:
    def end(*_):
        sys.stdout.write(does["on_signal"])
        sys.stdout.flush()
        os._exit(0)
    signal.signal(signal.SIGINT, end)
if does.get("deaf"):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.stdout.write(does.get("prints", ""))
sys.stdout.flush()
sys.stderr.write(does.get("complains", ""))
sys.stderr.flush()
if does.get("closes"):
    os.close(1)
if "on_signal" in does or does.get("deaf"):
    open("waits", "w").close()
    while True:
        signal.pause()
if "dies" in does:
    os.kill(os.getpid(), does["dies"])
os._exit(does.get("exits", 0))
"""


def installed(folder: Path, name: str, **does: Any) -> Path:
    """Makes the program; gives back its path."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!{sys.executable}\n" + BODY.format(does=json.dumps(does)))
    program.chmod(0o755)
    return program


def arguments(into: Path) -> list[list[str]]:
    """The command line of each run in a folder, without the program."""
    lines = (into / "arguments.txt").read_text().splitlines()
    return [json.loads(line)[1:] for line in lines]
