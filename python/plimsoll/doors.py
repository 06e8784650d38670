"""Doors: a package whose modules or names are imported at their first use (PEP 562).

A function-level import hides a dependency in the middle of a module. A door keeps start-up short
without one: the package names what is behind it, and `package.module` imports it then.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


def of_modules(package: str, modules: "Iterable[str]") -> "Callable[[str], Any]":
    """The `__getattr__` of a package that imports some of its modules at their first use.

    Args:
        package: `__name__` of the package.
        modules: Names of the modules, without that of the package.
    """
    return of_names(package, {name: (f"{package}.{name}", "") for name in modules})


def of_names(package: str, homes: "Mapping[str, tuple[str, str]]") -> "Callable[[str], Any]":
    """The `__getattr__` of a package that offers names of other modules.

    Args:
        package: `__name__` of the package.
        homes: For each name the module that defines it, and its name there; empty for the module.
    """

    def find(name: str) -> "Any":
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, attribute = homes[name]
        module = import_module(home)
        return getattr(module, attribute) if attribute else module

    return find
