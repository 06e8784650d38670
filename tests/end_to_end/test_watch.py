"""`plimsoll watch` in a real browser: a run under way, killed, resumed, finished."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import chromium
from command_line import HERE, LENIENT, Running, markdown_alone, run, start
from plimsoll import live
from plimsoll.watch import priority
from postgres_server import PASSWORD
from small_servers import eventually

pytestmark = [pytest.mark.long, pytest.mark.browser, pytest.mark.timeout(300)]

WATCHED = HERE / "campaigns" / "watched.toml"
RESULTS = "results/watched"
SHORT = (
    *("--set", "load.steady.hold.duration=500ms", "--set", "load.steady.warm_up.duration=100ms"),
    *LENIENT,
)
LONG = ("--set", "load.steady.hold.duration=8s")
PATIENCE_MS = 60_000
FEW_SECONDS_MS = 10_000

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}


@dataclass
class Visit:
    """A page that was opened.

    Attributes:
        page: The page.
        complaints: Errors and warnings of its console.
        foreign: Addresses it asked for on another host.
    """

    page: Any
    complaints: list[str] = field(default_factory=list[str])
    foreign: list[str] = field(default_factory=list[str])

    def headline(self, words: str, timeout_ms: int = PATIENCE_MS) -> None:
        """Waits until the page says something above all."""
        self.page.locator("#headline", has_text=words).wait_for(timeout=timeout_ms)


@contextmanager
def watched(folder: Path, *options: object, port: int = 0) -> Iterator[tuple[str, Running]]:
    """A page of results: its address, and the command that serves it."""
    running = start("watch", RESULTS, "--port", port, *options, folder=folder)
    try:
        assert eventually(lambda: "http://" in running.stdout, 120), running.stderr
        yield running.stdout.strip(), running
    finally:
        running.process.send_signal(signal.SIGINT)
        ended = running.end()
    assert ended.code == 0, ended.stderr


@contextmanager
def visited(browser: Any, address: str, **options: Any) -> Iterator[Visit]:
    """A page, opened."""
    context = browser.new_context(**options)
    seen = Visit(context.new_page())
    host = address.rstrip("/")
    seen.page.on(
        "console",
        lambda message: (
            message.type in ("error", "warning") and seen.complaints.append(message.text)
        ),
    )
    seen.page.on("pageerror", lambda error: seen.complaints.append(str(error)))
    seen.page.on(
        "request",
        lambda asked: asked.url.startswith(host) or seen.foreign.append(asked.url),
    )
    seen.page.goto(address)
    yield seen
    context.close()


def begun(folder: Path, *options: object) -> Running:
    """A run that has announced itself."""
    running = start("run", WATCHED, *options, folder=folder)
    results = folder / RESULTS
    assert eventually(lambda: live.read(results) is not None, 60), running.stderr
    return running


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a run that is over."""
    folder = tmp_path_factory.mktemp("finished")
    with markdown_alone():
        ran = run("run", WATCHED, *SHORT, folder=folder)
    assert ran.code in (0, 1), ran.stderr
    assert not (folder / RESULTS / live.FILE).exists()
    return folder


@pytest.fixture(scope="module")
def address(finished: Path) -> Iterator[str]:
    with watched(finished) as (found, _):
        yield found


def test_a_run_is_followed_until_it_is_killed_and_when_it_goes_on(
    browser: Any, tmp_path: Path
) -> None:
    lab = begun(tmp_path, *LONG)
    with watched(tmp_path) as (address, _), visited(browser, address, viewport=DESK) as visit:
        page = visit.page
        visit.headline("Running: trial")
        page.locator("#now dt", has_text="Throughput").wait_for(timeout=PATIENCE_MS)
        page.locator("#charts .chart svg.marks").nth(2).wait_for(timeout=PATIENCE_MS)
        assert page.locator("#charts h3").all_inner_texts() == [
            "Throughput",
            "Response time",
            "CPU",
        ]
        before = page.locator("#charts .chart").first.get_attribute("aria-label")
        assert eventually(
            lambda: page.locator("#charts .chart").first.get_attribute("aria-label") != before
        ), "the charts do not grow"
        assert "left, until about" in page.locator("#state").inner_text()
        assert page.locator("#following li").count() >= 1

        page.locator("#answers .bars tbody tr").first.wait_for(timeout=PATIENCE_MS)
        page.locator("#now dt", has_text="p50").wait_for(timeout=PATIENCE_MS)

        os.kill(lab.process.pid, signal.SIGKILL)
        visit.headline("The run stopped: ", FEW_SECONDS_MS)
        recorded = page.locator("#headline").inner_text().partition(": ")[2]
        assert recorded.endswith(" of 4 trials recorded")
        assert page.locator("#state .command").inner_text().startswith("plimsoll run ")
        assert not page.locator("#load").is_visible()
        lab.process.wait()

        lab = begun(tmp_path, *LONG)
        visit.headline(f"Running: trial {int(recorded.split()[0]) + 1} of 4")
        lab.press_ctrl_c()
        assert lab.end().code == 130
        visit.headline(f"Not running: {recorded}", FEW_SECONDS_MS)
        assert visit.complaints == []
        assert visit.foreign == []


def test_the_page_waits_for_watch_and_goes_on_when_it_is_back(browser: Any, finished: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with watched(finished, port=port) as (address, _):
        context = browser.new_context()
        page = context.new_page()
        page.goto(address)
        page.locator("#headline", has_text="Finished: 4 trials").wait_for()
    page.locator("#lost").wait_for(timeout=FEW_SECONDS_MS)
    assert "is lost" in page.locator("#lost").inner_text()
    assert "Finished" in page.locator("#headline").inner_text()
    with watched(finished, port=port):
        page.locator("#lost").wait_for(state="hidden", timeout=PATIENCE_MS)
        context.close()


@pytest.mark.parametrize(
    ("viewport", "scheme"),
    [
        pytest.param(DESK, "light", id="desk-light", marks=pytest.mark.thorough),
        pytest.param(DESK, "dark", id="desk-dark"),
        pytest.param(PHONE, "light", id="phone-light"),
        pytest.param(PHONE, "dark", id="phone-dark", marks=pytest.mark.thorough),
    ],
)
def test_no_serious_obstacle_stands_in_the_way_of_anybody(
    browser: Any, address: str, scheme: str, viewport: dict[str, int]
) -> None:
    with visited(browser, address, viewport=viewport, color_scheme=scheme) as visit:
        visit.headline("Finished: 4 trials")
        assert chromium.obstacles(visit.page) == []
        cut = visit.page.evaluate(
            "[...document.querySelectorAll('body *')].filter(one => {"
            " const box = one.getBoundingClientRect();"
            " return box.width > 1 && !one.closest('.skip, .scroll')"
            "  && (box.left < 0 || box.right > innerWidth); })"
            ".map(one => one.outerHTML.slice(0, 80))"
        )
        assert cut == []
        assert visit.complaints == []


def test_dark_paper_is_dark(browser: Any, address: str) -> None:
    with visited(browser, address, color_scheme="dark") as visit:
        colour = "getComputedStyle(document.body).backgroundColor"
        assert visit.page.evaluate(colour) == "rgb(18, 24, 31)"
        visit.page.locator("#theme").click()
        assert visit.page.evaluate(colour) == "rgb(255, 255, 255)"


def test_a_browser_that_lets_pages_keep_nothing_is_told_the_state(
    browser: Any, address: str
) -> None:
    denied = "get() { throw new DOMException('denied', 'SecurityError'); }"
    with visited(browser, address) as visit:
        visit.page.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ {denied} }})")
        with visit.page.expect_request("**/events"):
            visit.page.reload()
        visit.headline("Finished: 4 trials")
        visit.page.locator("#theme").click()
        assert visit.page.locator("#theme").inner_text() == "Colours: light"
        assert visit.complaints == []


def test_a_ranking_is_chosen_and_a_verdict_opened_with_the_keyboard(
    browser: Any, address: str
) -> None:
    with visited(browser, address) as visit:
        page = visit.page
        visit.headline("Finished: 4 trials")
        second = page.locator("#answers .switch a").nth(1)
        second.focus()
        page.keyboard.press("Enter")
        assert second.get_attribute("aria-current") == "true"
        assert page.locator("#answers .answer:visible").count() == 1
        page.locator("#ended summary").first.focus()
        page.keyboard.press("Enter")
        assert page.locator("#ended details[open]").count() == 1


def test_without_a_script_the_page_has_the_state_and_says_what_is_missing(
    browser: Any, address: str
) -> None:
    with visited(browser, address, java_script_enabled=False) as visit:
        text = visit.page.locator("body").inner_text()
        assert "Finished: 4 trials" in text
        assert "needs JavaScript" in text
        assert visit.page.locator("#answers .bars tbody tr").count() == 2


def test_results_in_a_database_are_shown_without_the_password(
    browser: Any, tmp_path: Path, database: str
) -> None:
    once = (*SHORT, "--set", "repetitions=1")
    with markdown_alone():
        ran = run("run", WATCHED, *once, "--storage", database, folder=tmp_path)
    assert ran.code in (0, 1), ran.stderr
    with (
        watched(tmp_path, "--storage", database) as (address, running),
        visited(browser, address) as visit,
    ):
        visit.headline("Finished: 2 trials")
        assert visit.page.locator("#answers .bars tbody tr").count() == 2
        assert PASSWORD not in visit.page.content() + running.stdout + running.stderr


# --- what cannot be shown ---


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda _: None, "`results/watched` is not a folder"),
        (lambda folder: folder.mkdir(parents=True), "`results/watched` contains no campaign"),
    ],
    ids=["nothing", "empty"],
)
def test_what_is_no_campaign_is_refused_in_one_sentence(
    make: Any, words: str, tmp_path: Path
) -> None:
    make(tmp_path / RESULTS)
    ran = run("watch", RESULTS, "--port", 0, folder=tmp_path)
    assert ran.code == 2
    assert words in ran.said
    assert "hint: " in ran.stderr
    assert ran.stdout == ""


def test_results_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / RESULTS).mkdir(parents=True)
    (tmp_path / RESULTS / "plan.json").write_text("{")
    ran = run("watch", RESULTS, "--port", 0, folder=tmp_path)
    assert ran.code == 6
    assert "plan.json` cannot be read" in ran.said


def test_a_port_in_use_is_named_with_what_to_do(finished: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ran = run("watch", RESULTS, "--port", port, folder=finished)
    assert ran.code == 3
    assert f"port {port} of 127.0.0.1 is in use" in ran.said
    assert "`--port 0`" in ran.said


def test_whoever_looks_on_writes_nothing(finished: Path, browser: Any) -> None:
    def state() -> dict[str, int]:
        files = (path for path in (finished / RESULTS).rglob("*") if path.is_file())
        return {str(path): path.stat().st_mtime_ns for path in files}

    before = state()
    with watched(finished) as (address, _), visited(browser, address) as visit:
        visit.headline("Finished: 4 trials")
    assert state() == before


def test_it_has_a_low_priority(finished: Path) -> None:
    with watched(finished) as (_, running):
        expected = max(priority.NICENESS, os.getpriority(os.PRIO_PROCESS, 0))
        tasks = Path(f"/proc/{running.process.pid}/task").iterdir()
        assert {os.getpriority(os.PRIO_PROCESS, int(task.name)) for task in tasks} == {expected}
