"""Framework folders: found, read, and every mistake in their files."""

from __future__ import annotations

from pathlib import Path

import pytest

from plimsoll.campaign import framework
from plimsoll.campaign.endpoints import ENDPOINTS
from plimsoll.campaign.framework import Framework, Requirement
from plimsoll.errors import InputError, Problem

NAMES = [endpoint.name for endpoint in ENDPOINTS]
ALL_ENDPOINTS = tuple(NAMES[: NAMES.index("mix") + 1])

GO = """\
name = "go"
language = "Go"
site = "https://pkg.go.dev/net/http"
needs = [{ kind = "command", name = "go", remedy = "install Go" }]
version = "go version"
build = "go build -o app ."
start = "./app"
start_timeout = "500ms"
stop_signal = "INT"
clean_exit_codes = [0, 143]
endpoints = [
    "empty", "2048", "8192", "32768", "getArgs2048", "postArgs2048", "postArgsMulti2048", "args",
    "json", "plaintext", "fibonacci", "ws",
]
notes = ["plain"]

[environment]
A = "1"
B = "2"

[variant.one-core]
environment = { B = "3", GOMAXPROCS = "1" }

[variant.bare]
start = "./bare"
notes = ["bare"]
needs = []
not_implemented = { json = "it has no JSON", fibonacci = "nor big numbers" }
"""


def folder(root: Path, text: str = GO, name: str = "go") -> Path:
    made = root / name
    made.mkdir()
    (made / "framework.toml").write_text(text)
    return made


def problems(root: Path, text: str, name: str = "go") -> list[Problem]:
    made = folder(root, text, name)
    with pytest.raises(InputError) as raised:
        framework.read(made)
    prefix = f"{made}/framework.toml:"
    assert all(problem.where.startswith(prefix) for problem in raised.value.problems)
    return [
        Problem(problem.where.removeprefix(prefix), problem.message, problem.hint)
        for problem in raised.value.problems
    ]


def test_the_plain_variant_comes_first_with_all_that_its_file_says(tmp_path: Path) -> None:
    plain, *others = framework.read(folder(tmp_path))
    assert plain == Framework(
        name="go",
        variant="",
        language="Go",
        folder=tmp_path / "go",
        site="https://pkg.go.dev/net/http",
        needs=(Requirement("command", "go", "install Go"),),
        build="go build -o app .",
        start="./app",
        version="go version",
        endpoints=ALL_ENDPOINTS,
        environment={"A": "1", "B": "2"},
        notes=("plain",),
        stop_signal="INT",
        clean_exit_codes=(0, 143),
        start_timeout_s=0.5,
    )
    assert [other.variant for other in others] == ["one-core", "bare"]


def test_a_variant_is_laid_over_the_plain_one(tmp_path: Path) -> None:
    _, one_core, bare = framework.read(folder(tmp_path))
    assert one_core.environment == {"A": "1", "B": "3", "GOMAXPROCS": "1"}
    assert (one_core.start, one_core.notes) == ("./app", ("plain",))
    assert (bare.start, bare.notes, bare.needs) == ("./bare", ("bare",), ())
    assert bare.environment == {"A": "1", "B": "2"}


def test_variants_share_a_build_where_nothing_that_it_depends_on_differs(tmp_path: Path) -> None:
    text = (
        GO.replace('environment = { B = "3", GOMAXPROCS = "1" }', 'start = "./app 1"')
        + '[variant.race]\nbuild = "go build -race"\n[variant.race-1]\nbuild = "go build -race"\n'
    )
    found = {one.variant: one.builds_as for one in framework.read(folder(tmp_path, text))}
    assert found == {"": "", "one-core": "", "bare": "bare", "race": "race", "race-1": "race"}
    other = {one.variant: one.builds_as for one in framework.read(folder(tmp_path / "go"))}
    assert other["one-core"] == "one-core", "its environment differs"


def test_a_variant_may_run_one_process_where_the_plain_one_runs_one_for_each_core(
    tmp_path: Path,
) -> None:
    text = GO.replace('start = "./app"\n', 'start = "./app"\nprocesses = true\n')
    text = text.replace('start = "./bare"\n', 'start = "./bare"\nprocesses = false\n')
    assert [one.processes for one in framework.read(folder(tmp_path, text))] == [True, True, False]


def test_what_a_build_reads_is_there(tmp_path: Path) -> None:
    text = GO.replace('start = "./app"\n', 'start = "./app"\nbuild_reads = ["*.toml", "src", ""]\n')
    found = problems(tmp_path, text)
    assert [(one.where, one.message) for one in found] == [
        ("8", "`src` names no file in the folder"),
        ("8", "`` names no file in the folder"),
    ]


@pytest.mark.parametrize(
    ("build", "reads", "variant", "lines"),
    [
        ("", '["*.toml"]', "", ["build_reads"]),
        ('build = ""', '["*.toml"]', "", ["build_reads"]),
        ("", "[]", "", []),
        ('build = "make"', '["*.toml"]', 'build = ""', []),
        ("build = 1", '["*.toml"]', "", ["build = 1"]),
        ("", '["*.toml"]', 'build = "make"', []),
        ("", '["*.toml"]', 'build = "make"\nbuild_reads = ["*.toml"]', ["build_reads"]),
        ("", "[]", 'build_reads = ["*.toml"]', ["build_reads"]),
        ('build = "make"', "[]", 'build_reads = ["*.toml"]', []),
    ],
)
def test_files_that_a_build_reads_need_a_build(
    tmp_path: Path, build: str, reads: str, variant: str, lines: list[str]
) -> None:
    head = GO.partition("[variant")[0].replace('build = "go build -o app ."\n', "")
    given = f"{build}\nbuild_reads = {reads}\n"
    text = f"{head.replace('[environment]', f'{given}[environment]')}[variant.other]\n{variant}\n"
    if not lines:
        assert framework.read(folder(tmp_path, text))
        return
    (found,) = problems(tmp_path, text)
    assert text.splitlines()[int(found.where) - 1].startswith(lines[0])
    if lines == ["build_reads"]:
        assert found.message == "`build_reads` names what `build` reads, but there is no `build`"
        assert found.hint == "add the command `build`, or remove `build_reads`"


def test_what_a_variant_leaves_out_is_not_among_its_endpoints(tmp_path: Path) -> None:
    _, _, bare = framework.read(folder(tmp_path))
    assert bare.endpoints == tuple(
        name for name in ALL_ENDPOINTS if name not in ("json", "fibonacci", "mix")
    )
    assert bare.not_implemented == {
        "json": "it has no JSON",
        "fibonacci": "nor big numbers",
        "mix": "it combines other endpoints, including `json`",
    }


def test_an_endpoint_that_a_variant_serves_is_no_longer_left_out(tmp_path: Path) -> None:
    text = (
        GO.replace('"plaintext", "fibonacci"', '"plaintext"')
        .replace("[environment]", '[not_implemented]\nfibonacci = "slow"\n\n[environment]')
        .partition("[variant")[0]
    )
    text += f"[variant.full]\nendpoints = {list(ALL_ENDPOINTS)}\n"
    plain, full = framework.read(folder(tmp_path, text))
    assert plain.not_implemented == {"fibonacci": "slow"}
    assert full.endpoints == ALL_ENDPOINTS
    assert full.not_implemented == {}


def test_services_are_those_of_the_plain_one_without_what_a_variant_leaves_out(
    tmp_path: Path,
) -> None:
    text = GO.replace('notes = ["plain"]', 'notes = ["plain"]\nservices = ["https", "h2"]', 1)
    text = text.replace('json = "it has no JSON"', 'h2 = "one connection at a time"')
    plain, one_core, bare = framework.read(folder(tmp_path, text))
    assert plain.services == one_core.services == ("https", "h2")
    assert bare.services == ("https",)
    assert bare.not_implemented["h2"] == "one connection at a time"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('services = ["h3"]', "h2c"),
        ('services = ["h2", "h2"]', "`h2` is listed twice"),
        ('services = ["h2"]\nnot_implemented = { h2 = "no" }', "`h2` is both in `services`"),
    ],
)
def test_mistakes_in_services_are_named(tmp_path: Path, line: str, message: str) -> None:
    found = problems(tmp_path, f"{GO}\n[variant.other]\n{line}\n")
    assert [message in f"{one.message} {one.hint}" for one in found] == [True]


def test_mix_follows_from_the_endpoints_that_it_is_made_of(tmp_path: Path) -> None:
    assert '"mix"' not in GO
    assert "mix" in framework.read(folder(tmp_path))[0].endpoints


def test_names_of_a_variant(tmp_path: Path) -> None:
    plain, one_core, _ = framework.read(folder(tmp_path))
    assert (plain.reference, plain.slug, plain.title) == ("go", "go", "go")
    assert (one_core.reference, one_core.slug) == ("go:one-core", "go-one-core")
    assert one_core.title == "go one-core"


def test_the_name_of_a_signal_may_have_its_prefix(tmp_path: Path) -> None:
    plain = framework.read(folder(tmp_path, GO.replace('"INT"', '"SIGQUIT"')))[0]
    assert plain.stop_signal == "QUIT"


def test_a_framework_that_keeps_no_connection_says_why(tmp_path: Path) -> None:
    text = 'no_keep_alive = "it closes each"\n' + GO
    assert {one.no_keep_alive for one in framework.read(folder(tmp_path, text))} == {
        "it closes each"
    }
    found = problems(tmp_path / "go", 'no_keep_alive = " "\n' + GO)
    assert [problem.message for problem in found] == ["`no_keep_alive` is empty"]


def test_all_mistakes_are_named_at_once_with_their_lines(tmp_path: Path) -> None:
    text = (
        GO.replace('language = "Go"', "langauge = 3")
        .replace('kind = "command"', 'kind = "brew"')
        .replace('start = "./app"', 'start = " "')
        .replace('"500ms"', '"soon"')
        .replace('"INT"', '"HANGUP"')
        .replace("[0, 143]", '[0, "143"]')
        .replace('"json", ', '"jsn", 2048, "empty", ')
        .replace('A = "1"', 'PORT = "80"')
        .replace("fibonacci = ", 'jason = "no", fibonacci = ')
    )
    found = problems(tmp_path, text)
    assert [(problem.where, problem.message, problem.hint) for problem in found] == [
        ("1", "`language` is missing", ""),
        ("2", "unknown key `langauge` here", "did you mean `language`?"),
        ("4", "`kind` must be `command`, `apt`, `java` or `folder`, not `brew`", ""),
        ("7", "`start` is empty", ""),
        (
            "8",
            "`start_timeout`: `soon` is not a duration",
            "write `500ms`, `30s`, `2m`, `1h`, or a bare number of seconds",
        ),
        ("9", "unknown stop signal `HANGUP`", "write `TERM`, `INT` or `QUIT`"),
        ("10", 'item 2 of `clean_exit_codes` must be a whole number, not `"143"`', ""),
        ("13", "item 10 of `endpoints` must be a quoted string, not `2048`", ""),
        ("13", "the contract has no endpoint `jsn`", "did you mean `json`?"),
        ("13", "`empty` is listed twice", ""),
        ("18", "`PORT` is set by Plimsoll for each trial", ""),
        ("28", "the contract has no endpoint `jason`", "did you mean `json`?"),
    ]


def test_mistakes_of_needs_and_variants_have_their_own_keys(tmp_path: Path) -> None:
    text = (
        GO.replace('remedy = "install Go"', 'remdy = "install Go"')
        .replace('start = "./bare"', 'strat = "./bare"\nname = "bare"\nclean_exit_codes = []')
        .replace('"500ms"', '"0s"')
    )
    assert [(one.where, one.message, one.hint) for one in problems(tmp_path, text)] == [
        ("4", "unknown key `remdy` here", "did you mean `remedy`?"),
        ("8", "`start_timeout` must be more than 0", ""),
        ("25", "unknown key `strat` here", "did you mean `start`?"),
        (
            "26",
            "unknown key `name` here",
            "keys: `build`, `build_reads`, `clean_exit_codes`, `contract_notes`, `endpoints`, "
            "`environment`, `language`, `needs`, `no_keep_alive`, `not_implemented`, `notes`, "
            "`processes`, `root`, `services`, `site`, `start`, `start_timeout`, `stop_signal`, "
            "`version`, `warm_up`",
        ),
        ("27", "`clean_exit_codes` is empty", "remove it for the default, 0"),
    ]


@pytest.mark.parametrize("table", ["environment", "not_implemented", "contract_notes"])
def test_a_wrong_value_in_a_table_is_named_with_its_table(tmp_path: Path, table: str) -> None:
    text = GO.split("[environment]", maxsplit=1)[0]
    text += f"[{table}]\nnotes = []\n[variant.one.{table}]\ndate = 3\n[variant.two]\nsite = 4\n"
    assert [
        (one.message, one.hint) for one in problems(tmp_path, text) if "must" in one.message
    ] == [
        (
            f"`notes` in `[{table}]` must be a quoted string, not a list",
            "to set `notes` of the file, write it above the first table",
        ),
        (f"`date` in `[variant.one.{table}]` must be a quoted string, not `3`", ""),
        ("`site` in `[variant.two]` must be a quoted string, not `4`", ""),
    ]


@pytest.mark.parametrize("key", ["start_timeout", "warm_up"])
def test_a_start_or_a_warm_up_of_more_than_a_month_is_refused(tmp_path: Path, key: str) -> None:
    def given(length: str) -> str:
        return GO.replace('start_timeout = "500ms"', f'{key} = "{length}"')

    made = folder(tmp_path, given("720h"))
    plain, *_ = framework.read(made)
    assert getattr(plain, f"{key}_s") == 30 * 24 * 3600
    (made / "framework.toml").write_text(given("721h"))
    with pytest.raises(InputError) as raised:
        framework.read(made)
    (problem,) = raised.value.problems
    assert (problem.message, problem.hint) == (
        f"`{key}` is too large: `2595600` s",
        "`2,592,000` s is the maximum",
    )


ROOTED = """
[variant.trixie]
root = "debian:trixie"
needs = [{ kind = "apt", name = "golang-go" }, { kind = "folder", name = "GO" }]
"""


def test_a_variant_may_have_a_root_of_its_own(tmp_path: Path) -> None:
    plain, *_, rooted = framework.read(folder(tmp_path, GO + ROOTED))
    assert (plain.root, rooted.root) == ("", "debian:trixie")
    assert rooted.builds_as == "trixie", "what is built elsewhere is built apart"


@pytest.mark.parametrize(
    ("changed", "by", "message"),
    [
        ("debian:trixie", "ubuntu:noble", "`ubuntu:noble` is not a root that Plimsoll can make"),
        ("debian:trixie", "debian:../etc", "`debian:../etc` is not a root that Plimsoll can make"),
        (
            '"folder"',
            '"command"',
            "`root` and a requirement of kind `command` exclude each other",
        ),
        ("\nneeds", "\n#", "`root` and a requirement of kind `command` exclude each other"),
    ],
)
def test_a_root_is_of_debian_and_has_packages(
    tmp_path: Path, changed: str, by: str, message: str
) -> None:
    (found,) = problems(tmp_path, GO + ROOTED.replace(changed, by))
    assert found.message == message


def test_what_is_not_listed_is_not_served_and_needs_no_reason(tmp_path: Path) -> None:
    text = GO.replace("[environment]", '[variant.small]\nendpoints = ["2048"]\n\n[environment]')
    small = framework.read(folder(tmp_path, text))[1]
    assert small.endpoints == ("2048",)
    assert [*small.not_implemented] == ["mix"]


def test_an_endpoint_is_not_both_served_and_left_out(tmp_path: Path) -> None:
    text = GO.replace('"json", "plaintext", "fibonacci"', '"json"').replace(
        "[environment]", '[not_implemented]\nplaintext = " "\njson = "no"\n\n[environment]'
    )
    assert [(problem.where, problem.message) for problem in problems(tmp_path, text)] == [
        ("18", "`plaintext` has no reason in `[not_implemented]`"),
        ("19", "`json` is both in `endpoints` and in `[not_implemented]`"),
    ]


def test_a_framework_serves_at_least_one_endpoint(tmp_path: Path) -> None:
    text = GO.partition("endpoints = [")[0] + "endpoints = []\n"
    (found,) = problems(tmp_path, text)
    assert found.message == "`endpoints` is empty"
    assert "`2048`" in found.hint


def test_mix_cannot_be_served_without_its_parts(tmp_path: Path) -> None:
    text = GO.replace('"json", ', '"mix", ').replace(
        "[environment]", '[not_implemented]\njson = "no"\n\n[environment]'
    )
    assert [(problem.where, problem.message) for problem in problems(tmp_path, text)] == [
        ("11", "`mix`: it combines other endpoints, including `json`"),
    ]


def test_an_empty_file_misses_what_every_framework_needs(tmp_path: Path) -> None:
    assert {problem.message for problem in problems(tmp_path, "")} == {
        f"`{key}` is missing" for key in ("name", "language", "version", "start", "endpoints")
    }


def test_the_name_is_that_of_the_folder(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, GO, name="golang")
    assert found.message == "`name` is `go`, but the folder is `golang`"


@pytest.mark.parametrize("name", ["Go", "go.net", "-go", "all"])
def test_a_name_is_fit_for_file_names_and_campaigns(tmp_path: Path, name: str) -> None:
    (found,) = problems(tmp_path, GO.replace('"go"', f'"{name}"', 1), name=name)
    assert found.message == f"`{name}` is not a valid framework name"


def test_the_name_of_a_variant_is_fit_for_file_names(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, GO.replace("variant.bare", 'variant."ba re"'))
    assert (found.where, found.message) == ("24", "`ba re` is not a valid variant name")


def test_folders_without_a_file_are_no_frameworks(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "README.md").touch()
    made = [folder(tmp_path, name=name) for name in ("node", "go")]
    assert framework.find(tmp_path) == tuple(sorted(made))
    assert framework.find(tmp_path / "absent") == ()


def test_frameworks_are_chosen_by_name_and_variant(tmp_path: Path) -> None:
    folder(tmp_path)
    folder(tmp_path, GO.replace('"go"', '"go2"', 1), name="go2")
    chosen = framework.choose(tmp_path, ["go:bare", "go2"])
    assert [one.reference for one in chosen] == ["go:bare", "go2"]
    assert [one.reference for one in framework.choose(tmp_path, ["all"])] == ["go", "go2"]


def test_all_after_a_colon_is_every_variant(tmp_path: Path) -> None:
    folder(tmp_path)
    folder(tmp_path, GO.replace('"go"', '"go2"', 1), name="go2")
    every = [one.reference for one in framework.choose(tmp_path, ["go2:all"])]
    assert every[0] == "go2"
    assert {"go2:bare", "go2:one-core"} <= set(every)
    both = [one.reference for one in framework.choose(tmp_path, ["all:all"])]
    assert both == [*(name.replace("go2", "go") for name in every), *every]
    with pytest.raises(InputError, match="unknown framework `all`"):
        framework.choose(tmp_path, ["all:bare"])


def test_no_variant_is_called_all(tmp_path: Path) -> None:
    (found,) = problems(tmp_path, GO.replace("variant.bare", "variant.all"))
    assert found.message == "`all` is not a valid variant name"


def test_what_is_not_in_the_folder_is_looked_for_among_plimsolls_own(tmp_path: Path) -> None:
    folder(tmp_path)
    go, other = framework.choose(tmp_path, ["go", "reference"])
    assert go.folder == tmp_path / "go"
    assert other.folder == Path(__file__).parents[3] / "frameworks" / "reference"


def test_every_name_that_is_not_known_is_named(tmp_path: Path) -> None:
    folder(tmp_path)
    with pytest.raises(InputError) as raised:
        framework.choose(tmp_path, ["goo", "go:one-cores", "go", "cobol"])
    *near, far = raised.value.problems
    assert near == [
        Problem("", f"unknown framework `goo` in `{tmp_path}`", "did you mean `go`?"),
        Problem("", "`go` has no variant `one-cores`", "did you mean `one-core`?"),
    ]
    assert far.message == f"unknown framework `cobol` in `{tmp_path}`"
    assert far.hint.startswith("frameworks: `actix`, ")
    assert far.hint.count("`go`") == 1


def test_a_broken_framework_harms_nobody_who_does_not_ask_for_it(tmp_path: Path) -> None:
    folder(tmp_path)
    folder(tmp_path, "= broken", name="broken")
    assert framework.choose(tmp_path, ["go"])
    with pytest.raises(InputError):
        framework.choose(tmp_path, ["broken"])


def test_the_folder_given_comes_first_then_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("given", "named", "here"):
        folder_of = tmp_path / name / "frameworks"
        folder_of.mkdir(parents=True)
        folder(folder_of)
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("PLIMSOLL_FRAMEWORKS", str(tmp_path / "named" / "frameworks"))
    given = tmp_path / "given" / "frameworks"
    assert framework.locate(given) == given
    assert framework.locate() == tmp_path / "named" / "frameworks"
    monkeypatch.delenv("PLIMSOLL_FRAMEWORKS")
    assert framework.locate() == tmp_path / "here" / "frameworks"


def test_frameworks_are_found_from_a_folder_below(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "frameworks"
    root.mkdir()
    folder(root)
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    monkeypatch.delenv("PLIMSOLL_FRAMEWORKS", raising=False)
    monkeypatch.chdir(tmp_path / "deep" / "deeper")
    assert framework.locate() == root


def test_elsewhere_the_frameworks_are_those_of_the_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "frameworks" / "of-another-kind").mkdir(parents=True)
    monkeypatch.delenv("PLIMSOLL_FRAMEWORKS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert framework.locate() == Path(__file__).parents[3] / "frameworks"


@pytest.mark.parametrize("how", ["frameworks", "PLIMSOLL_FRAMEWORKS"])
def test_a_folder_without_frameworks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setenv("PLIMSOLL_FRAMEWORKS", str(tmp_path))
    with pytest.raises(InputError) as raised:
        framework.locate(tmp_path if how == "frameworks" else None)
    (found,) = raised.value.problems
    assert (found.where, found.message) == (how, f"`{tmp_path}` contains no framework")


def test_contract_notes_name_a_rule_and_say_why(tmp_path: Path) -> None:
    noted = GO.replace(
        "[environment]", '[contract_notes]\ndate = "it has no clock"\n\n[environment]', 1
    )
    for one in framework.read(folder(tmp_path, noted)):
        assert one.contract_notes == {"date": "it has no clock"}
    wrong = GO.replace(
        "[environment]", '[contract_notes]\ndata = "x"\netag = " "\n\n[environment]', 1
    )
    found = problems(tmp_path / "go", wrong)
    assert [(one.message, one.hint) for one in found] == [
        (
            "the contract has no rule `data`",
            "did you mean `date`?",
        ),
        ("`etag` has no reason", "give a reason a reader can check"),
    ]


def test_contract_notes_of_a_variant_replace_those_of_the_plain_one(tmp_path: Path) -> None:
    noted = GO.replace(
        "[environment]", '[contract_notes]\ndate = "it has no clock"\n\n[environment]', 1
    )
    added = """
[variant.clocked]
contract_notes = {}

[variant.tagged]
contract_notes = { etag = "it cannot be told" }

[variant.silent]
"""
    found = {one.variant: one for one in framework.read(folder(tmp_path, noted + added))}
    assert found["clocked"].contract_notes == {}
    assert found["tagged"].contract_notes == {"etag": "it cannot be told"}
    assert found["silent"].contract_notes == {"date": "it has no clock"}
    assert found["silent"].notes_on_rules == ("Exempt from rule `date`: it has no clock",)
