"""Whether frameworks can be started on this host, and what makes them so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.errors import NotInstalled
from plimsoll.install import typed
from plimsoll.install.install import build, is_built, not_installed, stale
from plimsoll.install.requirements import missing
from plimsoll.provenance import named as parts_named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from plimsoll.campaign.framework import Framework


def absent(framework: Framework) -> NotInstalled | None:
    """The error with why a framework cannot be started; None if it can."""
    if needs := missing(framework):
        return not_installed(framework, needs)
    return _not_built([framework]) if _was_never_built(framework) else None


def make_ready(chosen: Sequence[Framework], step: Callable[[str], None]) -> None:
    """Builds the frameworks that changed since they were built; requires that all others are.

    Args:
        chosen: Frameworks.
        step: Called with each build that begins, and why.

    Raises:
        NotInstalled: One was never installed; the message names all of them.
        BuildFailed: A build failed.
    """
    for framework in chosen:
        if needs := missing(framework):
            raise not_installed(framework, needs)
    if unbuilt := [framework for framework in chosen if _was_never_built(framework)]:
        raise _not_built(unbuilt)
    for framework in chosen:
        if changed := stale(framework):
            step(f"{framework.title}: building, since {parts_named(changed)}")
            build(framework)


def unready(chosen: Sequence[Framework]) -> list[str]:
    """What is missing before some frameworks can run: one sentence each, with what to do."""
    errors = [error for framework in chosen if (error := absent(framework))]
    changed = [(framework, stale(framework)) for framework in chosen]
    return [
        *(f"{error.message}: {error.hint}" for error in errors),
        *(
            f"`{framework.reference}` will be built first, since {parts_named(parts)}"
            for framework, parts in changed
            if parts
        ),
    ]


def _was_never_built(framework: Framework) -> bool:
    return not is_built(framework) and not stale(framework)


def _not_built(chosen: Sequence[Framework]) -> NotInstalled:
    """The error that names frameworks that were never built, and the remedy."""
    names = [framework.reference for framework in chosen]
    are = "are" if names[1:] else "is"
    message = f"{', '.join(f'`{name}`' for name in names)} {are} not built"
    return NotInstalled(message, f"run {typed.commands('install', chosen)}")
