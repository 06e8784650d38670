"""Rules of the house that no other tool keeps."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

import click
import pytest

import plimsoll
from plimsoll import charts, cli, errors, export, intake
from plimsoll.campaign import endpoints, framework
from plimsoll.cli import export as export_verb
from plimsoll.drivers import tools
from plimsoll.export import formats as exported
from plimsoll.report import formats
from plimsoll.report.formats import every
from plimsoll.sampling import samplers
from plimsoll.tool_output import readers
from plimsoll.verdicts import campaign_checks, checks, figure_checks, figure_set_checks

PACKAGE = Path(plimsoll.__file__).parent
CHECKOUT = Path(__file__).resolve().parents[2]
FRAMEWORKS = framework.find(CHECKOUT / "frameworks")

MOST_UNTYPED = 25
"""Uses of `UNTYPED` in the package besides `EDGES`; lower it with each one that gets a type."""

UNTYPED = ("dict[str, Any]", "Mapping[str, Any]")
"""Types of what may hold anything."""

EDGES = {
    "campaign.documents.Table": "TOML that users write, before it is validated",
    "canvas.Specification": "Vega-Lite, whose schema Altair keeps",
    "drivers.tools.plimsoll.Line": "JSON that the engine prints",
    "export.seconds.Row": "rows of a table on their way into a file",
    "export.seconds.Times": "the same by second",
    "report.results.machine_readable.JsonObject": "JSON for other programs",
    "tool_output.printed.Json": "JSON that other tools print",
    "tool_output.readers.table.Row": "tables that users write, before they are validated",
}
"""Aliases of `UNTYPED` where data comes in or goes out, and what it is."""

LAZY = "noqa: PLC0415"
"""What silences the linter where a module is imported within a function."""

MOST_LAZY = 40

HEAVY = ("pyarrow", "duckdb", "altair", "pydantic", "scipy", "numpy", "rich", "jinja2")


def modules(package: ModuleType) -> set[str]:
    """Names of the modules in the folder of a package."""
    return {module.name for module in pkgutil.iter_modules(package.__path__)}


def names(listed: Sequence[ModuleType]) -> list[str]:
    return [module.__name__.rpartition(".")[2] for module in listed]


def defines(package: ModuleType, *wanted: str) -> set[str]:
    """Modules of a package that define something at their top level."""
    return {
        name
        for name in modules(package)
        if set(wanted) <= vars(importlib.import_module(f"{package.__name__}.{name}")).keys()
    }


def sources() -> Iterator[Path]:
    return PACKAGE.rglob("*.py")


@pytest.mark.parametrize(
    ("package", "listed"),
    [
        (endpoints, endpoints.MODULES),
        (checks, checks.CHECKS),
        (campaign_checks, campaign_checks.CAMPAIGN_CHECKS),
        (figure_checks, figure_checks.FIGURE_CHECKS),
        (figure_set_checks, figure_set_checks.FIGURE_SET_CHECKS),
        (readers, readers.READERS),
        (charts, charts.CHARTS),
        (samplers, samplers.SAMPLERS),
        (tools, tools.DRIVERS),
    ],
    ids=[
        "endpoints",
        "checks",
        "campaign checks",
        "checks on figures",
        "checks on sets of figures",
        "readers",
        "charts",
        "samplers",
        "drivers",
    ],
)
def test_the_tuple_of_a_folder_holds_every_module_of_it_once(
    package: ModuleType, listed: tuple[ModuleType, ...]
) -> None:
    assert sorted(names(listed)) == sorted(modules(package))


def test_the_formats_are_the_modules_that_write_reports() -> None:
    assert set(names(every.FORMATS)) == defines(formats, "NAME", "write")


def test_the_formats_of_an_export_are_its_modules_that_write_and_are_what_the_verb_offers() -> None:
    listed = names(exported.FORMATS)
    assert set(listed) == defines(export, "NAME", "FILES", "OF_ROWS", "write")
    assert listed == [module.NAME for module in exported.FORMATS] == [*export_verb.FORMATS]


def test_the_readers_of_rows_are_the_modules_that_read_them() -> None:
    assert {one.NAME for one in intake.READERS} == defines(intake, "NAME", "recognises", "read")


def test_endpoints_are_in_the_order_of_their_modules() -> None:
    listed = [one for module in endpoints.MODULES for one in module.ENDPOINTS]
    assert list(endpoints.ENDPOINTS) == listed
    assert len({one.name for one in listed}) == len(listed)


def test_the_verbs_are_the_modules_that_define_a_command() -> None:
    assert {cli.module_of(verb) for verb in cli.VERBS} == defines(cli, "command")


@pytest.mark.parametrize("verb", cli.VERBS)
def test_a_verb_has_the_name_of_its_module_and_documents_all_it_takes(verb: str) -> None:
    command = cli.plimsoll.get_command(click.Context(cli.plimsoll), verb)
    assert command is not None
    assert command.name == verb
    assert command.help
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert [one.name for one in options if not one.help] == []


@pytest.mark.parametrize(
    "check",
    [*checks.CHECKS, *campaign_checks.CAMPAIGN_CHECKS],
    ids=names([*checks.CHECKS, *campaign_checks.CAMPAIGN_CHECKS]),
)
def test_a_check_names_its_source_and_is_documented(check: ModuleType) -> None:
    assert check.__doc__
    assert re.search(r"^Sources?: \S", check.__doc__, re.MULTILINE)
    assert check.SOURCE
    assert check.TITLE
    assert check.PROBLEM
    assert {limit.check for limit in check.LIMITS} == {check.NAME}
    assert names([check]) == [check.NAME]


@pytest.mark.parametrize(
    "path", sorted(sources()), ids=lambda path: path.relative_to(PACKAGE).as_posix()
)
def test_all_that_is_public_is_documented(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), "the module"
    bare = [
        node.name
        for node in _public(tree)
        if not ast.get_docstring(node) and not node.name.startswith("_")
    ]
    assert bare == []


def _public(tree: ast.Module | ast.ClassDef) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from _public(node)


def test_a_class_has_a_name_of_its_own() -> None:
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources()]
    names = [node.name for tree in trees for node in tree.body if isinstance(node, ast.ClassDef)]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_no_module_has_a_name_that_says_nothing() -> None:
    nothing = {"utils", "util", "helpers", "common", "manager", "base", "misc"}
    assert {path.stem for path in sources()} & nothing == set()


@pytest.mark.parametrize("module", ["plimsoll.cli", "plimsoll.campaign.load", "plimsoll.errors"])
def test_a_light_module_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) & set(HEAVY) == set()


def test_help_of_a_verb_imports_nothing_that_reads_tables() -> None:
    code = "import sys, plimsoll.cli.run, plimsoll.cli.load; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert set(ran.stdout.split()) & {"duckdb", "altair", "vl_convert", "scipy", "jinja2"} == set()


def test_imports_within_functions_are_few() -> None:
    lazy = [
        line for path in sources() for line in path.read_text("utf-8").splitlines() if LAZY in line
    ]
    assert len(lazy) < MOST_LAZY, "import at the head of the module, or behind a door (`doors.py`)"


CHECK_PACKAGES = ("checks", "campaign_checks", "figure_checks", "figure_set_checks")
"""Folders of `verdicts/`; the modules in them are checks."""

CHECK_NAMES = {
    name
    for package in (checks, campaign_checks, figure_checks, figure_set_checks)
    for name in modules(package)
}


def others() -> list[Path]:
    """Modules that are no checks."""
    return [path for path in sources() if path.parent.name not in CHECK_PACKAGES]


def test_no_module_knows_a_check_by_its_name() -> None:
    """What others need to know of a check, it declares: `ROLE`, `NEEDS`, `COMPARES`."""
    spoken = {name for name in CHECK_NAMES if "_" in name}
    known = [
        f"{path.relative_to(PACKAGE)}: {text}"
        for path in others()
        for text in strings(path)
        if text in spoken
    ]
    assert known == []


def test_no_module_imports_a_single_check() -> None:
    homes = {f"plimsoll.verdicts.{one}" for one in CHECK_PACKAGES}
    found = [
        f"{path.relative_to(PACKAGE)}: {node.module}"
        for path in others()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module is not None
        if node.module.rpartition(".")[0] in homes
        or (node.module in homes and CHECK_NAMES & {one.name for one in node.names})
    ]
    assert found == []


NUMBERS_FOR_PROGRAMS = {
    "campaign/toml_writer.py",
    "canvas.py",
    "conduct/provenance.py",
    "export/hlog.py",
    "export/seconds.py",
    "load_line/limits.py",
    "report/results/junit.py",
    "report/formats/pictures.py",
    "tool_output/readers/fortio.py",
    "verdicts/figure_set_checks/repeated_numbers.py",
}
"""Modules that format numbers for files, identifiers or comparisons."""


def test_one_module_formats_the_numbers_that_people_read() -> None:
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None
        if re.search(r",|\.[\w{]|[feg]$", ast.unparse(node.format_spec)[2:-1])
    }
    assert found - NUMBERS_FOR_PROGRAMS == {"wording.py"}


def every_error(kind: type[errors.PlimsollError]) -> Iterator[type[errors.PlimsollError]]:
    for special in kind.__subclasses__():
        yield special
        yield from every_error(special)


def test_the_help_documents_the_exit_code_of_every_error() -> None:
    told = {int(code) for code in re.findall(r"\b(\d+)  \w", cli.EPILOGUE)}
    ours = {kind.exit_code for kind in every_error(errors.PlimsollError)}
    assert told == ours | {
        *(0, errors.VERDICT_VOID, errors.LIMIT_MISSED, errors.UNDECIDED, errors.FAULT)
    }


def test_every_error_is_in_the_tree_that_readers_see_with_its_exit_code() -> None:
    tree = inspect.getdoc(errors) or ""
    for kind in every_error(errors.PlimsollError):
        assert re.search(rf"\b{kind.__name__}\b", tree)
    for kind in errors.PlimsollError.__subclasses__():
        assert re.search(rf"\b{kind.__name__} +{kind.exit_code}\b", tree)


@pytest.mark.parametrize(
    "kind", [*every_error(errors.PlimsollError)], ids=lambda kind: kind.__name__
)
def test_the_exit_code_of_a_trial_is_that_of_the_error_that_ended_it(
    kind: type[errors.PlimsollError],
) -> None:
    assert errors.exit_code_of(kind.__name__) == kind.exit_code


def test_a_trial_that_completed_has_exit_code_0_and_an_unknown_ending_that_of_a_framework() -> None:
    assert errors.exit_code_of("completed") == 0
    assert errors.exit_code_of("Melted") == errors.FrameworkError.exit_code


def test_every_error_of_storage_says_what_to_do() -> None:
    calls = [
        (path.name, node)
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and spoken(node.func).rpartition(".")[2] == "StorageError"
    ]
    assert calls
    assert [f"{name}:{node.lineno}" for name, node in calls if len(node.args) < 2] == []


@pytest.mark.parametrize("room", ["lab", "storage", "conduct"])
def test_the_library_names_arguments_and_no_options(room: str) -> None:
    found = [
        text
        for path in sorted((PACKAGE / room).rglob("*.py"))
        for text in strings(path)
        if re.search(r"`-{1,2}[A-Za-z]", text)
    ]
    assert found == []


def test_every_folder_of_frameworks_is_one() -> None:
    folders = {path for path in (CHECKOUT / "frameworks").iterdir() if path.is_dir()}
    assert folders == set(FRAMEWORKS)


@pytest.mark.parametrize("folder", FRAMEWORKS, ids=lambda folder: folder.name)
def test_a_framework_is_mentioned_to_its_readers(folder: Path) -> None:
    said = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    said += (CHECKOUT / "docs" / "frameworks.md").read_text(encoding="utf-8")
    assert f"`{folder.name}`" in said


PRIVATE_WORDS = re.compile(
    r"\basked for\b|\bwhoever\b|\bof which\b|\bnobody\b|\bso many\b|\bright answers?\b"
    r"|\banswered rightly\b|\bstands? still\b|\bthe question is wrong\b|\bwandered\b|\bmend\b"
    r"|\bheld against\b|\bstands? out\b|\bwhose turn it is\b|\bset-ups?\b|\bcannot be seen\b"
    r"|\bthat it could have\b|\bkeeps? its limit\b|\bbehind its end\b|\bthe limit being\b"
    r"|\banew\b|\bbesides\b|\bupon\b|\bbeneath\b|\bthereby\b|\bin vain\b|\brightly\b"
    r"|\bstood still\b|\bwanders?\b|\bmends\b|\bmended\b|\bfreezes?\b",
    re.IGNORECASE,
)
"""Words that users of load generators do not use; `docs/glossary.md` has those that they do."""


def strings(file: Path) -> Iterator[str]:
    """The string literals of a module, without its docstrings."""
    nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    docstrings = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in docstrings:
                yield node.value


def worded() -> list[str]:
    """Modules whose strings are held to this."""
    found = {str(path.relative_to(PACKAGE)) for path in sources()}
    return sorted(found)


@pytest.mark.parametrize("name", worded())
def test_what_users_read_is_in_the_terms_of_the_field(name: str) -> None:
    found = [text for text in strings(PACKAGE / name) if PRIVATE_WORDS.search(text)]
    assert not found


def test_the_help_is_in_the_terms_of_the_field() -> None:
    assert not PRIVATE_WORDS.findall((CHECKOUT / "docs" / "cli.md").read_text(encoding="utf-8"))


def is_untyped(node: ast.AST) -> bool:
    """Whether a node is one of `UNTYPED`, perhaps as the text that a cast takes."""
    if isinstance(node, ast.Constant):
        return node.value in UNTYPED
    is_table = isinstance(node, ast.Subscript) and spoken(node.value) in ("dict", "Mapping")
    return is_table and ast.unparse(node) in UNTYPED


def spoken(node: ast.AST) -> str:
    """A name with dots as it is written: `campaign.documents`; nothing for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def dotted(path: Path) -> str:
    """A module as it is imported, without the name of the package: `tool_output.printed`."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def aliases(nodes: Sequence[ast.AST]) -> set[str]:
    """Names that a module gives to `UNTYPED`, or to what contains it."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            parts = [*ast.walk(node.value)]
            is_call = any(isinstance(part, ast.Call) for part in parts)
            names = {part.id for part in parts if isinstance(part, ast.Name)}
            if not is_call and (any(map(is_untyped, parts)) or names & found):
                found.add(node.targets[0].id)
    return found


def named_by_import(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, str]]:
    """What a module calls something of the package, and where that is from."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("plimsoll"):
            home = (node.module or "").removeprefix("plimsoll").removeprefix(".")
            for one in node.names:
                yield one.asname or one.name, f"{home}.{one.name}".removeprefix(".")


def test_tables_of_anything_stay_where_json_comes_in_or_goes_out() -> None:
    """Values have types; the number of exceptions may only fall."""
    parsed = {
        dotted(path): [*ast.walk(ast.parse(path.read_text("utf-8")))] for path in sorted(sources())
    }
    named = {module: aliases(nodes) for module, nodes in parsed.items()}
    known = {f"{module}.{name}" for module, names in named.items() for name in names}
    assert known >= EDGES.keys()
    counted = known - EDGES.keys()
    uses: list[str] = []
    for module, nodes in parsed.items():
        names = {name: f"{module}.{name}" for name in named[module]} | dict(named_by_import(nodes))
        for node in nodes:
            if is_untyped(node):
                uses.append(module)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                first, _, rest = spoken(node).partition(".")
                what = ".".join(filter(None, (names.get(first, ""), rest)))
                uses += [f"{module}: {what}"] if what in counted else []
    assert len(uses) <= MOST_UNTYPED, uses
