"""A real root: made, built and served in, measured and killed like everything else on the host."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest

import plimsoll
import rooted
from plimsoll.campaign.framework import Framework
from plimsoll.errors import RootFailed
from plimsoll.install import applications, commands, entering, install, mmdebstrap, roots
from plimsoll.processes.tree import ProcessTree
from plimsoll.serving import observed
from plimsoll.serving.server import started
from small_servers import eventually, living

pytestmark = [pytest.mark.root, pytest.mark.thorough, pytest.mark.timeout(600)]

_HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Framework]:
    """A framework in a root that was made for it."""
    if not (shutil.which(mmdebstrap.PROGRAM, path=entering.PATH) and entering.may_mount()):
        pytest.skip("no root can be made: there is no mmdebstrap, or this user may not mount")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        made = rooted.framework(tmp_path_factory.mktemp("small"))
        try:
            install.install(made)
        except RootFailed as error:
            if mmdebstrap.MIRROR not in error.hint:
                raise
            pytest.skip(f"no mirror of Debian: {error.message}")
        yield made


def test_it_is_built_and_served_in_the_root(subject: Framework, tmp_path: Path) -> None:
    (core, *_) = sorted(os.sched_getaffinity(0))
    with started(subject, log=tmp_path / "log", cores=(core,)) as running:
        connection = HTTPConnection(running.place.host, running.place.port, timeout=10)
        connection.request("GET", "/")
        assert connection.getresponse().read() == rooted.SUITE.encode()
        root = roots.of(subject)
        assert root is not None
        for pid in running.processes():
            assert Path(f"/proc/{pid}/root").readlink() == root.path
            assert os.sched_getaffinity(pid) == {core}
        assert running.pid in running.processes(), "it keeps the number that the supervisor knows"
        tree = ProcessTree(running.supervisor_pid, with_root=False)
        tree.refresh()
        assert {*tree.stats} == {*running.processes()}
        assert observed.serving(running).backlog
        stopped = running.stop()
    assert stopped.exit_code == 0, (tmp_path / "log").read_text()
    assert stopped.killed == 1, "the child that does not stop"
    assert stopped.port_free


def test_nothing_can_be_written_into_it(subject: Framework) -> None:
    names = ("/kept", "/etc/kept", "/run/gone", "/var/tmp/gone")
    writing = "; ".join(f"touch {name} && echo {name}" for name in names)
    asked = replace(subject, version=f"{{ {writing}; }} | paste -sd ' '")
    assert commands.version(asked) == "/run/gone /var/tmp/gone"


def test_what_ran_names_its_packages(subject: Framework) -> None:
    versions = {part.name: part.value for part in applications.of(subject)}
    root = roots.of(subject)
    assert root is not None
    assert versions[root.name] == root.digest
    assert "perl-base" in root.versions()


def test_a_killed_lab_leaves_neither_process_nor_mount(subject: Framework, tmp_path: Path) -> None:
    name, value = "PLIMSOLL_TEST", f"{tmp_path.name}-{os.getpid()}"
    paths = (str(Path(plimsoll.__file__).parent.parent), str(_HERE.parent))
    lab = subprocess.Popen(
        [sys.executable, str(_HERE / "lab.py"), str(tmp_path), "ROOTED", "10"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths), name: value},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    try:
        assert lab.stdout is not None
        assert lab.stdout.readline() == "ready\n"
        assert len(living(f"{name}={value}")) > 2
    finally:
        lab.kill()
        lab.communicate()
    assert eventually(lambda: not living(f"{name}={value}"))
    root = roots.of(subject)
    assert root is not None
    assert str(root.path) not in Path("/proc/self/mountinfo").read_text()
