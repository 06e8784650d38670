"""Makes roots of Debian by mmdebstrap, from the mirror that the host's own apt uses."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.errors import RootFailed, StorageError
from plimsoll.install import entering, waiting
from plimsoll.install.host_answers import output_of, text_of
from plimsoll.install.locks import alone
from plimsoll.processes.logs import quoted
from plimsoll.processes.supervised import SupervisedProcess

if TYPE_CHECKING:
    import threading
    from collections.abc import Iterator

    from plimsoll.install.roots import DebianRoot

PROGRAM = "mmdebstrap"
"""The program that makes roots, and the Debian package that has it."""

MIRROR = "PLIMSOLL_DEBIAN_MIRROR"
"""Variable with the address of a mirror of Debian, in place of the one that the host's apt uses."""

MAKE_S = 1800.0
"""Timeout of making a root in seconds."""

_ASKED_S = 60.0
_GRACE_S = 20.0
_KEYS = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SYSTEM = Path("/etc/os-release")
_SUITES = ("bullseye", "bookworm", "trixie", "forky", "sid")
"""Suites that a misspelt one may stand for."""

_WITHOUT_UPDATES = ("sid", "unstable", "experimental")
# What apt is told about mirrors: proxies, certificates, retries, whether the host's clock is right.
_TRANSPORT = re.compile(r"Acquire::(http|https|Check-|Retries|Force|Max-)")
_FULL = "No space left on device"
_UNREACHED = re.compile(
    r"Could not (?:resolve|connect)|Unable to connect|Failed to fetch|Connection (?:failed|refused)"
    r"|does not have a Release file|Temporary failure resolving|404 +Not Found"
)
_NO_RELEASE = re.compile(r"^Err:\d+ (?P<mirror>\S+) (?P<release>\S+) Release\n +404 ", re.MULTILINE)
"""What apt says of a mirror that responds, and does not have a suite or a part of it."""

_UNKNOWN = re.compile(r"Unable to locate package|has no installation candidate")


def make(
    root: DebianRoot, timeout_s: float = MAKE_S, stop: threading.Event = waiting.NEVER
) -> bool:
    """Makes a root, unless it is made.

    It is usable once its versions are stored, which is done last. What was made of it is removed
    where it failed, but for its log; what an interrupted call left is removed by the next one.

    Args:
        root: The root.
        timeout_s: Timeout in seconds.
        stop: Ends it when it is set.

    Returns:
        Whether something was done.

    Raises:
        Interrupted: `stop` is set.
        RootFailed: mmdebstrap failed: no mirror, no such package, or another reason, by its log.
        StorageError: The disk is full, or the cache cannot be written.
    """
    try:
        root.folder.mkdir(parents=True, exist_ok=True)
        with alone(root.folder, stop):
            if root.is_made:
                return False
            _remove(root.path)
            try:
                _run(root, timeout_s, stop)
                root.set_versions(_versions(root))
            except (RootFailed, StorageError, OSError):
                _remove(root.path)
                raise
    except OSError as error:
        message = f"`{root.folder}` cannot be written: {error.strerror}"
        raise StorageError(message, "make it writable, or set `XDG_CACHE_HOME`") from error
    return True


def sources(suite: str) -> tuple[str, ...]:
    """Lines of apt's sources for a suite; none where the host does not use Debian's archive.

    They are those of the host with its own suite replaced: `bookworm-security` becomes
    `trixie-security`. mmdebstrap has a default mirror where there are none.

    Args:
        suite: The suite of Debian.
    """
    if mirror := os.environ.get(MIRROR):
        return (_line(mirror, suite),)
    own = re.search(r"^VERSION_CODENAME=(\w+)", text_of(_SYSTEM), re.MULTILINE)
    if own is None:
        return ()
    return tuple(dict.fromkeys(_sources_like_the_hosts(own[1], suite)))


def _sources_like_the_hosts(own: str, suite: str) -> Iterator[str]:
    form = "$(REPO_URI)|$(RELEASE)|$(COMPONENT)|$(ORIGIN)"
    indexes = ("apt-get", "indextargets", "--format", form, "Created-By: Packages")
    for line in output_of(*indexes, timeout_s=_ASKED_S).splitlines():
        uri, release, component, origin = line.split("|")
        name, dash, part = release.partition("-")
        is_debian = origin == "Debian" and name == own and part in ("", "updates", "security")
        if is_debian and component == "main" and not (part and suite in _WITHOUT_UPDATES):
            yield _line(uri, f"{suite}{dash}{part}")


def _line(mirror: str, release: str) -> str:
    signed = f"[signed-by={_KEYS}] " if _KEYS.is_file() else ""
    return f"deb {signed}{mirror} {release} main"


def _run(root: DebianRoot, timeout_s: float, stop: threading.Event) -> None:
    """Runs mmdebstrap, with mounts that are gone when it is."""
    log = root.folder / "root.log"
    log.unlink(missing_ok=True)
    environment = {**os.environ, "PATH": entering.PATH, "LC_ALL": "C"}
    with SupervisedProcess(
        (*_namespaces(), *_command(root)),
        folder=root.folder,
        environment=environment,
        log=log,
        grace_s=_GRACE_S,
    ) as supervised:
        ended = waiting.wait(supervised.wait, timeout_s, stop)
        code = supervised.exit_code
    if not ended:
        message = f"`{root.name}` was not made within {wording.count(timeout_s)} s"
        raise RootFailed(f"{message}; {quoted(log)}", f"see the log, `{log}`")
    if code != 0:
        raise _failure(root, log)


def _namespaces() -> tuple[str, ...]:
    """Those of a command in a root; a user namespace mounts /proc only for processes of its own."""
    own = () if os.geteuid() == 0 else ("--pid", "--fork", "--kill-child", "--mount-proc")
    return (*entering.namespaces(), *own)


def _command(root: DebianRoot) -> Iterator[str]:
    yield from (PROGRAM, "--mode=root", "--variant=essential", "--format=directory")
    if os.geteuid() != 0:
        yield "--skip=chroot/mount/sys"
    if root.packages:
        yield f"--include={','.join(root.packages)}"
    for option in output_of("apt-config", "dump", timeout_s=_ASKED_S).splitlines():
        if _TRANSPORT.match(option):
            yield f"--aptopt={option}"
    yield from (root.suite, str(root.path), *sources(root.suite))


def _failure(root: DebianRoot, log: Path) -> RootFailed | StorageError:
    said = text_of(log)
    if _FULL in said:
        message = f"the disk of `{root.folder}` is full, so `{root.name}` could not be made"
        return StorageError(message, "free some gigabytes, or set `XDG_CACHE_HOME`")
    failed = f"`{root.name}` could not be made"
    hint = f"see the log, `{log}`"
    for found in _NO_RELEASE.finditer(said):
        if found["release"] == root.suite:
            failed += f", since {found['mirror']} has no suite `{root.suite}`"
            return RootFailed(f"{failed}; {quoted(log)}", _other_suite(root.suite))
    if _UNKNOWN.search(said):
        hint = f"correct `needs`: {root.name} does not have all of {', '.join(root.packages)}"
    elif _UNREACHED.search(said):
        hint = f"set {MIRROR} to a mirror of Debian that this host reaches"
    return RootFailed(f"{failed}; {quoted(log)}", hint)


def _other_suite(suite: str) -> str:
    """The hint for a suite that a mirror does not have."""
    if similar := difflib.get_close_matches(suite, _SUITES, n=1, cutoff=0.7):
        if similar[0] != suite:
            return f"did you mean `debian:{similar[0]}`?"
    return f"write a suite that the mirror has, or set {MIRROR} to a mirror that has this one"


def _versions(root: DebianRoot) -> dict[str, str]:
    """Version of each package of a root, by dpkg of the host.

    Raises:
        RootFailed: dpkg finds none.
    """
    listed = output_of(
        *("dpkg-query", f"--admindir={root.path}/var/lib/dpkg", "-W"),
        *("-f", "${Package} ${Version}\n"),
        timeout_s=_ASKED_S,
    )
    versions = dict(line.split(" ", 1) for line in listed.splitlines())
    if not versions:
        raise RootFailed(f"`{root.path}` has no packages", f"remove `{root.folder}`, and try again")
    return versions


def _remove(path: Path) -> None:
    """Removes what is there of a root, and nothing that is mounted in it."""
    if path.exists():
        remover = [*entering.namespaces(), "rm", "-rf", "--one-file-system", str(path)]
        subprocess.run(remover, stdin=subprocess.DEVNULL, capture_output=True, check=False)
