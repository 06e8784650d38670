"""Commands that run in a root: in a mount namespace of their own, and in nothing else of their own.

The command sees the root as `/`, read-only, with these folders of the host at their own paths: the
framework's and its build folder, those that variables of its requirements name, the user's home,
`/tmp`, `/proc`, `/sys` and `/dev`. It keeps its process id, its processes are the host's, and so
are network, cores and limits: whoever counts, signals or confines processes on the host does the
same with these. The mounts are gone with the last process.

`unshare` of util-linux replaces itself by what it runs. Bubblewrap stays between the supervisor and
the server, and passes no signal on.

Source:
    unshare(1), mount_namespaces(7), user_namespaces(7), subuid(5).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from plimsoll.install.roots import DebianRoot

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""The search path of programs in a root: Debian's."""

HOST_ONLY = (
    *("JAVA_HOME", "LD_LIBRARY_PATH", "LD_PRELOAD", "VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH"),
    *("LANG", "LANGUAGE", "LC_ALL"),
)
"""Variables that name something of the host that a root does not have."""

_SHARED = ("/proc", "/sys", "/dev", "/tmp")  # noqa: S108 - the folder itself is meant
_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/etc")
"""Folders with the system of a root: a home that has one, or is in one, would hide it."""

_FILES = ("/etc/hosts", "/etc/resolv.conf", "/etc/ssl/certs/ca-certificates.crt")
_TRIED_S = 10.0

# The root is mounted on itself, since only a mount can be made read-only. Flags that the host's
# mount may have (nosuid, nodev) cannot be taken away in a user namespace, so both are set.
_ENTER = """
set -e
root=$1 folder=$2 command=$3
shift 3
mount --bind "$root" "$root"
for path; do
    if [ -d "$path" ]; then
        mkdir -p "$root$path"
    else
        mkdir -p "$root${path%/*}"
        [ -e "$root$path" ] || : >"$root$path"
    fi
    mount --rbind "$path" "$root$path"
done
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mount -t tmpfs -o mode=1777 tmpfs "$root/var/tmp"
mount -o remount,bind,ro,nosuid,nodev "$root"
exec chroot "$root" env --chdir="$folder" sh -c "$command"
"""


def command(
    root: DebianRoot, typed: str, folder: Path, others: Iterable[Path] = ()
) -> tuple[str, ...]:
    """Program and arguments that run a command of a framework in a root.

    Args:
        root: The root, made.
        typed: The command, for `sh`.
        folder: The framework's folder, in which the command runs.
        others: More folders that it uses: that of its build.
    """
    folders = [path.resolve() for path in (folder, *others)]
    script = ("sh", "-c", _ENTER, "sh", str(root.path), str(folders[0]), typed)
    return (*namespaces(), *_dying_with_the_supervisor(), *script, *_mounted(folders))


def namespaces() -> tuple[str, ...]:
    """What stands before a command that mounts something for itself alone.

    For a user other than root it makes a user namespace, in which this user is root and the others
    are the user's subordinate ids.
    """
    user = () if os.geteuid() == 0 else ("--user", "--map-root-user", "--map-auto")
    return ("unshare", *user, "--mount")


@cache
def may_mount() -> bool:
    """Whether this user may run commands in a root."""
    try:
        tried = subprocess.run(
            [*namespaces(), "mount", "--rbind", "/proc", "/proc"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TRIED_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return tried.returncode == 0


def _dying_with_the_supervisor() -> tuple[str, ...]:
    """Asks again for the signal at the parent's end, which a new user namespace forgets.

    Source:
        PR_SET_PDEATHSIG(2const): cleared when the process gains capabilities.
    """
    return () if os.geteuid() == 0 else ("setpriv", "--pdeathsig", "KILL")


def _mounted(folders: Iterable[Path]) -> Iterator[str]:
    """The paths of the host that are in a root, each at its own path; none below another."""
    yield from _SHARED
    yield from (path for path in _FILES if Path(path).is_file())
    done = [Path(path) for path in _SHARED]
    for path in (*_home(), Path(tempfile.gettempdir()).resolve(), *folders):
        if path.is_dir() and not any(path.is_relative_to(other) for other in done):
            yield str(path)
            done.append(path)


def _home() -> Iterator[Path]:
    """The user's home, unless it is `/` or another folder of the system, as that of a service."""
    try:
        home = Path.home()
    except RuntimeError:  # an id without an account
        return
    system = map(Path, _SYSTEM)
    if not any(home.is_relative_to(path) or path.is_relative_to(home) for path in system):
        yield home
