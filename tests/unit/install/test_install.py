"""Builds: done once, done again when something changed, and told when they fail."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

import small_servers
from plimsoll.campaign.framework import Framework, Requirement
from plimsoll.errors import BuildFailed, Interrupted, NotInstalled
from plimsoll.install import apt, commands, install, requirements, sources, waiting
from plimsoll.install.locks import alone

_COUNT = 'echo built >> "$BUILD/count"; echo working'


@pytest.fixture
def subject(tmp_path: Path) -> Framework:
    return small_servers.framework(tmp_path / "small", "", build=_COUNT)


def _builds(framework: Framework) -> int:
    return len((commands.build_folder(framework) / "count").read_text().splitlines())


def test_a_second_build_does_nothing(subject: Framework) -> None:
    assert not install.is_built(subject)
    assert install.build(subject).done
    assert install.is_built(subject)
    assert not install.build(subject).done
    assert _builds(subject) == 1


def test_the_output_of_the_build_is_in_its_log(subject: Framework) -> None:
    assert install.build(subject).log.read_text() == "working\n"


def test_a_changed_file_command_variable_or_mode_is_built_again(subject: Framework) -> None:
    install.build(subject)
    (subject.folder / "app.py").write_text("changed")
    assert install.build(subject).done
    (subject.folder / "sub").mkdir()
    (subject.folder / "sub" / "new").touch()
    assert install.build(subject).done
    (subject.folder / "sub" / "new").chmod(0o755)
    assert install.build(subject).done
    assert install.build(replace(subject, build=f"{_COUNT}; true")).done
    assert install.build(replace(subject, environment={"A": "1"})).done
    assert not install.build(replace(subject, environment={"A": "1"})).done


def test_a_note_builds_nothing_again(subject: Framework) -> None:
    manifest = subject.folder / "framework.toml"
    manifest.write_text("notes = []")
    install.build(subject)
    manifest.write_text('notes = ["it does not compress"]')
    noted = replace(subject, notes=("it does not compress",), start="exec other")
    assert install.is_built(noted)
    assert install.stale(noted) == ()


def test_what_changed_since_a_build_is_named(subject: Framework) -> None:
    assert install.stale(subject) == ()
    install.build(subject)
    (subject.folder / "app.py").write_text("changed")
    assert install.stale(subject) == ("`app.py` changed",)
    assert not install.is_built(subject)


def test_what_builds_leave_in_the_folder_is_no_source(subject: Framework) -> None:
    install.build(subject)
    for name in (".build-other", "__pycache__", "node_modules", "target"):
        (subject.folder / name).mkdir()
        (subject.folder / name / "made").touch()
    assert not install.build(subject).done


def test_a_replaced_tool_is_built_again(subject: Framework, tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.touch(mode=0o755)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", f"{tool.parent}:{os.environ['PATH']}")
        needing = replace(subject, needs=(Requirement("command", "tool"),))
        install.build(needing)
        assert not install.build(needing).done
        tool.write_text("another version")
        assert install.build(needing).done


def test_a_package_of_debian_that_was_unpacked_again_is_built_again(
    subject: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_PACKAGES", tmp_path)
    subject = replace(subject, needs=(Requirement("apt", "libone"),))
    files = tmp_path / "libone:amd64.list"
    files.touch()
    install.build(subject)
    (tmp_path / "libone-doc.list").touch()
    assert install.is_built(subject)
    os.utime(files, ns=(0, 0))
    assert install.build(subject).done


def test_only_files_that_the_build_reads_make_it_stale(subject: Framework) -> None:
    subject = replace(subject, build_reads=("require*.txt", "lib"))
    (subject.folder / "requirements.txt").touch()
    (subject.folder / "lib").mkdir()
    (subject.folder / "lib" / "one.py").touch()
    install.build(subject)
    (subject.folder / "app.py").write_text("changed")
    assert install.is_built(subject)
    (subject.folder / "lib" / "one.py").write_text("changed")
    assert install.stale(subject) == ("`lib/one.py` changed",)
    install.build(subject)
    (subject.folder / "requirements.txt").write_text("changed")
    assert install.stale(subject) == ("`requirements.txt` changed",)


def test_variants_that_are_built_alike_share_a_build(subject: Framework) -> None:
    install.build(subject)
    assert install.is_built(replace(subject, variant="other"))


def test_variants_are_built_apart(subject: Framework) -> None:
    other = replace(subject, variant="other", builds_as="other")
    install.build(subject)
    assert install.build(other).done
    assert commands.build_folder(other).name == ".build-other"
    assert _builds(subject) == 1


def test_nothing_to_build_is_nothing_to_do(subject: Framework) -> None:
    nothing = replace(subject, build="")
    assert not install.build(nothing).done
    assert install.is_built(nothing)
    assert not commands.build_folder(nothing).exists()


def test_a_failed_build_says_its_last_lines_and_is_tried_again(subject: Framework) -> None:
    failing = replace(subject, build="echo one; echo two >&2; exit 3")
    with pytest.raises(BuildFailed, match=r"exited with code 3; .*\n  one\n  two") as caught:
        install.build(failing)
    assert str(commands.build_folder(failing) / "build.log") in caught.value.hint
    with pytest.raises(BuildFailed):
        install.build(failing)


def test_a_build_that_failed_is_not_taken_for_the_one_before(subject: Framework) -> None:
    install.build(subject)
    (subject.folder / "app.py").write_text("changed")
    with pytest.raises(BuildFailed):
        install.build(replace(subject, build="exit 1"))
    assert not install.is_built(subject)


def test_a_build_that_does_not_end_is_stopped(subject: Framework) -> None:
    with pytest.raises(BuildFailed, match="did not finish within 0 s"):
        install.build(replace(subject, build="sleep 600"), timeout_s=0.1)


def test_the_build_folder_is_invisible_to_git(subject: Framework) -> None:
    install.build(subject)
    assert (commands.build_folder(subject) / ".gitignore").read_text() == "*\n"


def test_a_folder_that_may_not_be_written_is_built_in_the_cache(
    subject: Framework, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    folder = commands.build_folder(subject)
    assert folder.parent == tmp_path / "cache" / "plimsoll"
    assert folder != commands.build_folder(replace(subject, folder=tmp_path / "another"))


def test_commands_are_told_where_to_listen_and_what_to_use(subject: Framework) -> None:
    given = commands.environment(
        replace(subject, environment={"MODE": "production"}), port=1234, workers=3
    )
    told = {name: given[name] for name in ("HOST", "PORT", "WORKERS", "MODE")}
    assert told == {"HOST": "127.0.0.1", "PORT": "1234", "WORKERS": "3", "MODE": "production"}
    assert given["BUILD"] == str(subject.folder / ".build")


def test_commands_are_told_of_tls_only_where_it_is_wanted(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TLS_CERT", "/of/the/user.pem")
    plain = commands.environment(subject)
    assert plain["PROTOCOL"] == "http1"
    assert not {"TLS_CERT", "TLS_KEY"} & {*plain}
    certificate, key = Path("/c.pem"), Path("/k.pem")
    secured = commands.environment(subject, protocol="http2", certificate=certificate, key=key)
    told = {name: secured[name] for name in ("PROTOCOL", "TLS_CERT", "TLS_KEY")}
    assert told == {"PROTOCOL": "http2", "TLS_CERT": "/c.pem", "TLS_KEY": "/k.pem"}


def test_commands_have_nothing_of_the_users_shell_that_a_trial_gives(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("DATABASE_URL", "UPSTREAM_URL", "PGHOST", "PGSSLMODE"):
        monkeypatch.setenv(name, "of the user")
    assert "of the user" not in commands.environment(subject).values()
    own = replace(subject, environment={"PGAPPNAME": "of the framework"})
    assert commands.environment(own)["PGAPPNAME"] == "of the framework"
    # As `compare --path` asks it for a path of the user's.
    assert "of the user" not in commands.environment(replace(subject, endpoints=())).values()
    mere = commands.environment(replace(subject, language="", endpoints=()), port=8080)
    assert {name for name, value in mere.items() if value == "of the user"} == {
        *("DATABASE_URL", "UPSTREAM_URL", "PGHOST", "PGSSLMODE"),
    }


def test_builds_have_the_proxies_of_the_user_and_servers_do_not(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxies = {"http_proxy", "HTTPS_PROXY", "ALL_PROXY", "no_proxy"}
    for name in proxies:
        monkeypatch.setenv(name, "http://proxy.test:3128")
    assert proxies <= {*commands.environment(subject)}
    assert not proxies & {*commands.environment(subject, port=8080)}


@pytest.mark.parametrize(
    "name",
    [
        *("QUARKUS_VERTX_EVENT_LOOPS_POOL_SIZE", "quarkus_http_io_threads", "SPRING_CONFIG_NAME"),
        *("SERVER_TOMCAT_THREADS_MAX", "UVICORN_WORKERS", "GUNICORN_CMD_ARGS", "WEB_CONCURRENCY"),
        *("FLASK_DEBUG", "DEBUG", "DENO_V8_FLAGS", "BUN_JSC_useJIT", "DOTNET_gcServer"),
        *("Kestrel__Limits__MaxConcurrentConnections", "RAILS_MAX_THREADS", "ROCKET_WORKERS"),
    ],
)
def test_builds_have_settings_of_frameworks_of_the_users_shell_and_servers_do_not(
    name: str, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "of the user")
    assert commands.environment(subject)[name] == "of the user"
    assert name not in commands.environment(subject, port=8080)
    own = replace(subject, environment={name: "of the framework"})
    assert commands.environment(own, port=8080)[name] == "of the framework"
    mere = replace(subject, language="", endpoints=())
    assert commands.environment(mere, port=8080)[name] == "of the user"


@pytest.mark.parametrize("name", ["DENO_DIR", "BUN_INSTALL", "DOTNET_ROOT_X64", "GOGC", "APP_SDK"])
def test_servers_have_what_finds_their_programs_and_tunes_their_runtime(
    name: str, subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "/of/the/user")
    subject = replace(subject, needs=(Requirement("folder", "APP_SDK"),))
    assert commands.environment(subject, port=8080)[name] == "/of/the/user"


def test_the_version_is_the_first_line_of_its_command(subject: Framework) -> None:
    asked = replace(subject, version="echo; echo '  tool 1.2 '; echo more")
    assert commands.version(asked) == "tool 1.2"
    assert commands.version(replace(subject, version="exit 1")) == ""
    assert commands.version(subject) == ""


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("echo 1.2", ""),
        ("echo 1.2 >&2", ""),
        ("echo no; echo such module >&2; exit 3", "exited with code 3 and said `such module`"),
        ("exit 3", "exited with code 3 and said nothing"),
        ("kill -9 $$", "was killed by signal 9 and said nothing"),
        ("true", "printed nothing"),
        ("", ""),
    ],
)
def test_a_version_command_that_fails_has_a_reason(
    subject: Framework, command: str, problem: str
) -> None:
    asked = commands.asked_version(replace(subject, version=command))
    assert asked.problem == (f"`version` {problem}" if problem else "")
    assert bool(asked.text) == (not problem and bool(command))


def test_a_version_command_that_does_not_end_has_a_reason(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "VERSION_S", 0.2)
    asked = commands.asked_version(replace(subject, version="exec sleep 60"))
    assert asked.problem == "`version` did not end within 0.2 s"


def test_installing_says_what_was_done(subject: Framework) -> None:
    assert re.fullmatch(r"small: built in \d+ s", install.install(subject).sentence)
    assert install.install(subject).sentence == "small: nothing to do"


def test_what_is_missing_is_named_with_what_a_person_must_type(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    needs = (
        Requirement("apt", "no-such-package"),
        Requirement("java", "99", "install a JDK"),
        Requirement("command", "no-such-program", "install a JDK"),
        Requirement("apt", "nor-this"),
    )
    with pytest.raises(NotInstalled) as caught:
        install.install(replace(subject, needs=needs))
    assert caught.value.message == (
        "`small` needs the package `no-such-package`, a JDK 99 or newer, `no-such-program` and "
        "the package `nor-this`, which are not installed"
    )
    assert caught.value.hint == (
        "sudo apt-get install -y --no-install-recommends no-such-package nor-this; install a JDK"
    )


def test_root_installs_packages_and_then_looks_again(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(apt, "install", lambda packages, _: asked.append(packages) or ())
    with pytest.raises(NotInstalled, match="needs the package `no-such-package`, which is not"):
        install.install(replace(subject, needs=(Requirement("apt", "no-such-package"),)))
    assert asked == [["no-such-package"]]


def test_services_that_packages_brought_are_said_to_be_off(
    subject: Framework, monkeypatch: pytest.MonkeyPatch
) -> None:
    here: list[str] = []
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(requirements, "package_installed", here.__contains__)
    monkeypatch.setattr(apt, "install", lambda packages, _: here.extend(packages) or ("inetd",))
    needing = replace(subject, needs=(Requirement("apt", "inetd-tools"),))
    said = install.install(needing).sentence
    assert said.startswith("small: installed inetd-tools, kept inetd disabled, built in ")


# --- stopped by another thread ---


def stopped(subject: Framework, when: Callable[[], bool]) -> Future[install.Built]:
    """A build in another thread that is stopped as soon as something is so."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as threads:
        building = threads.submit(install.build, subject, stop=stop)
        assert small_servers.eventually(when)
        assert not building.done()
        stop.set()
    return building


def test_a_build_is_ended_by_another_thread_with_all_its_processes(subject: Framework) -> None:
    slow = replace(subject, build='echo $$ > "$BUILD/pid"; sleep 600; true')
    pid = commands.build_folder(slow) / "pid"
    building = stopped(slow, lambda: pid.is_file() and bool(pid.read_text().strip()))
    assert isinstance(building.exception(), Interrupted)
    assert not Path("/proc", pid.read_text().strip()).exists()
    assert not install.is_built(slow)
    assert install.build(subject).done


def test_a_build_that_waits_for_a_lock_is_ended_by_another_thread(subject: Framework) -> None:
    install.build(subject)
    changed = replace(subject, environment={"A": "1"})
    with alone(commands.build_folder(subject)):
        building = stopped(changed, lambda: True)
    assert isinstance(building.exception(), Interrupted)
    assert _builds(subject) == 1


def test_a_build_waits_for_the_lock_of_another(subject: Framework) -> None:
    install.build(subject)
    changed = replace(subject, environment={"A": "1"})
    with ThreadPoolExecutor(1) as threads:
        with alone(commands.build_folder(subject)):
            building = threads.submit(install.build, changed)
            threading.Event().wait(3 * waiting.LOOK_EVERY_S)
            assert _builds(subject) == 1
        assert building.result().done


def test_nothing_is_begun_after_the_stop(subject: Framework) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(Interrupted):
        install.install(subject, stop=stop)
    assert not (commands.build_folder(subject) / "count").exists()
