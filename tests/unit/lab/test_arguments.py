"""Arguments of the library that are wrong are named before anything is done."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import plimsoll
from plimsoll.errors import InputError
from plimsoll.lab import arguments

URL = "http://127.0.0.1:9/"

FUNCTIONS = [
    found for name in plimsoll.__all__ if inspect.isfunction(found := getattr(plimsoll, name))
]
METHODS = [
    method
    for name in plimsoll.__all__
    if inspect.isclass(kind := getattr(plimsoll, name))
    for attribute, method in vars(kind).items()
    if inspect.isfunction(method) and not attribute.startswith("_")
]

ENOUGH: dict[str, dict[str, Any]] = {
    "compare": {"a": "nothing", "b": "nothing"},
    "line": {"url": URL, "limit": "p99=20ms"},
    "load": {"url": URL},
    "read": {"path": "nowhere"},
    "run": {"campaign": "nowhere"},
    "trial": {"trial_id": "a"},
    "chart": {"name": "a"},
}
"""What a function cannot do without; nothing of it is there."""

WRONG: dict[str, tuple[Any, ...]] = {
    "bool": ("yes", 1, None),
    "int": ("8", 8.5, True, float("nan")),
    "float": ("1s", True, float("nan"), float("inf"), 10**400, 1j),
    "str": (5, b"text", ["text"], "\0"),
    "bytes": ("text", 5),
    "str | os.PathLike[str]": (5, b"path", "", "\0", ["path"]),
    "Listener": (5, "print"),
    "Sequence[int]": (5.5, "0", ["0"], [True], b"0", {0: 1}),
    "Sequence[str]": (5, [5], ["text", None], b"text", {"key": 1}),
    "str | Sequence[str]": (5, [5], b"text", {"key": 1}),
    "int | Literal['all']": ("many", 1.5, True),
    "Mapping[str, str] | Sequence[tuple[str, str]]": (5, ["A: b"], "A: b", {"A": 1}),
    "Mapping[str, Mapping[str, float]]": (5, {"check": 1}, {1: {}}, {"check": {"name": "x"}}),
    "Source": (5, b"text", ["text"], ("name", "text"), ("name",), Path("\0")),
}
"""Values of no annotation, beside an object; of choices that of no literal."""


def parameters(functions: list[Callable[..., Any]]) -> Iterator[Any]:
    """Every parameter that a caller gives."""
    for function in functions:
        for parameter in inspect.signature(function).parameters.values():
            if parameter.name != "self":
                yield pytest.param(function, parameter, id=f"{function.__name__}-{parameter.name}")


def call(function: Callable[..., Any], parameter: inspect.Parameter, value: object) -> None:
    """Calls a function with a value of one of its parameters, and what else it needs."""
    given: dict[str, Any] = dict(ENOUGH.get(function.__name__, {}))
    if "self" in inspect.signature(function).parameters:
        given["self"] = None
    if parameter.kind is parameter.VAR_POSITIONAL:
        function(value, **given)
    else:
        function(**{**given, parameter.name: value})


@pytest.mark.parametrize(("function", "parameter"), [*parameters([*FUNCTIONS, *METHODS])])
def test_every_argument_of_a_wrong_type_is_named(
    function: Callable[..., Any], parameter: inspect.Parameter
) -> None:
    annotation = parameter.annotation.removesuffix(" | None")
    is_optional = annotation != parameter.annotation
    for value in (object(), *WRONG.get(annotation, ("none of them", 5))):
        if value is None and is_optional:
            continue
        with pytest.raises(InputError) as caught:
            call(function, parameter, value)
        (problem,) = caught.value.problems
        assert problem.where == parameter.name
        assert "is not" in problem.message
        assert problem.hint


def test_every_public_function_is_looked_at() -> None:
    assert len(FUNCTIONS) == 9
    assert {"report", "trial", "chart", "markdown", "text"} <= {one.__name__ for one in METHODS}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("connections", 0),
        ("connections", 10**12),
        ("duration_s", 0),
        ("duration_s", 1e-12),
        ("duration_s", 1e12),
        ("think_time_s", -1),
        ("idle_s", -1),
        ("status", -5),
        ("length_bytes", -1),
        ("seed", -1),
        ("url", []),
        ("url", "ftp://127.0.0.1/"),
        ("driver_cores", [4095]),
        ("driver_cores", [-1]),
        ("compressed", "deflate"),
        ("limits", {"nothing": {"most_void": 1}}),
        ("limits", {"undisturbed": {"most": 1}}),
    ],
)
def test_a_value_that_no_load_can_have_is_named(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.load(**{"url": URL, name: value})
    (problem,) = caught.value.problems
    assert problem.where == name
    assert problem.hint


@pytest.mark.parametrize(
    ("name", "value"),
    [("cores", 0), ("warm_up_s", -1), ("run", 0), ("time_zone", "Mars/North"), ("separator", "ab")],
)
def test_a_value_that_no_import_can_have_is_named(name: str, value: Any, tmp_path: Path) -> None:
    (tmp_path / "log.csv").touch()
    with pytest.raises(InputError) as caught:
        plimsoll.import_recording(tmp_path / "log.csv", into=tmp_path / "into", **{name: value})
    (problem,) = caught.value.problems
    assert problem.where == name
    assert problem.hint
    assert not (tmp_path / "into").exists()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("connections", 0),
        ("connections", 10**12),
        ("rate_per_s", 1e300),
        ("budget_s", 0),
        ("within", 1),
        ("warm_up_s", -1),
        ("endpoint", "nothing"),
        ("path", "json"),
    ],
)
def test_a_value_that_no_comparison_can_have_is_named(name: str, value: Any) -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.compare("reference", "reference", **{name: value})
    (problem,) = caught.value.problems
    assert problem.where == name
    assert problem.hint


def test_every_argument_that_is_wrong_is_named_at_once() -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.load(URL, connections="8", keep_alive=1, body="x")  # type: ignore[arg-type]
    assert [problem.where for problem in caught.value.problems] == [
        "connections",
        "keep_alive",
        "body",
    ]


def test_a_missing_or_unknown_argument_is_what_it_is_elsewhere() -> None:
    with pytest.raises(TypeError, match=r"load\(\) missing 1 required positional argument: 'url'"):
        plimsoll.load()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'connection'"):
        plimsoll.load(URL, connection=5)  # type: ignore[call-arg]


def test_numbers_of_numpy_become_numbers_of_python() -> None:
    found: list[Any] = []

    @arguments.checked()
    def called(count: int, share: float, cores: Sequence[int] = ()) -> None:
        found.extend((count, share, cores))

    given: Any = (np.int64(2), np.float32(0.5), np.array([0, 1]))
    called(*given)
    assert found == [2, 0.5, (0, 1)]
    assert [type(one) for one in (*found[:2], *found[2])] == [int, float, int, int]


def test_a_single_value_is_one_of_several() -> None:
    with pytest.raises(InputError, match="`nothing` is not a content coding"):
        plimsoll.load(URL, compressed="nothing")
    with pytest.raises(InputError, match="no part `nothing`"):
        plimsoll.calibrate("nothing")
    with pytest.raises(InputError, match="unknown key `nothing`"):
        plimsoll.audit("x", settings="nothing=1")
    with pytest.raises(InputError, match="core 4095"):
        plimsoll.load(URL, driver_cores=4095)  # type: ignore[arg-type]


def test_an_annotation_without_a_reader_is_an_error_of_its_function() -> None:
    with pytest.raises(TypeError, match="no reader for `complex`"):

        @arguments.checked()
        def _called(number: complex) -> None:
            pass


def test_a_long_value_is_cut() -> None:
    with pytest.raises(InputError) as caught:
        plimsoll.load(URL, body="x" * 10**6)  # type: ignore[arg-type]
    assert len(caught.value.message) < 100


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda long: plimsoll.load("http://127.0.0.1:1/", record=long), "record"),
        (lambda long: plimsoll.load("http://127.0.0.1:1/", upload=long), "upload"),
        (lambda long: plimsoll.line("http://127.0.0.1:1/", "p99=9ms", record=long), "record"),
        (lambda long: plimsoll.import_recording("a.csv", into=long), "into"),
        (lambda long: plimsoll.check("go", frameworks=long), "frameworks"),
        (plimsoll.read, "path"),
    ],
)
def test_a_name_that_no_file_can_have_is_named(call: Any, name: str) -> None:
    with pytest.raises(InputError, match="not a path that this host takes") as error:
        call("x" * 300)
    assert [problem.where for problem in error.value.problems] == [name]
