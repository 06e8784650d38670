"""Plimsoll: a laboratory for HTTP servers and web frameworks.

`run` runs a campaign, `load` load-tests a running server, `line` finds the greatest rate that it
carries inside limits. `compare` decides which of two servers is faster, `check` verifies frameworks
without load, `read` opens results, `calibrate` checks the load generator. `import_recording` reads
logs of other tools, `audit` checks their results. Importing this package imports none of them; each
is imported at its first use. Their types are in `__init__.pyi`.
"""

# pyright: reportUnsupportedDunderAll=false

from plimsoll import doors

__version__ = "0.1.0"

__all__ = [
    "AuditResult",
    "CalibrationResult",
    "CampaignResults",
    "CheckResult",
    "ComparisonResult",
    "DriverError",
    "FrameworkError",
    "HostError",
    "ImportResult",
    "InputError",
    "Interrupted",
    "LineResult",
    "LoadResult",
    "PlimsollError",
    "StorageError",
    "TrialChart",
    "TrialResult",
    "__version__",
    "audit",
    "calibrate",
    "check",
    "compare",
    "errors",
    "events",
    "import_recording",
    "line",
    "load",
    "read",
    "run",
]

_NAMES_OF = {
    "errors": (
        "DriverError",
        "FrameworkError",
        "HostError",
        "InputError",
        "Interrupted",
        "PlimsollError",
        "StorageError",
    ),
    "lab.audits": ("AuditResult", "audit"),
    "lab.calibrations": ("CalibrationResult", "calibrate"),
    "lab.campaigns": ("run",),
    "lab.charts": ("TrialChart",),
    "lab.checks": ("CheckResult", "check"),
    "lab.comparing": ("ComparisonResult", "compare"),
    "lab.imports": ("ImportResult", "import_recording"),
    "lab.line_results": ("LineResult",),
    "lab.lines": ("line",),
    "lab.loads": ("load",),
    "lab.results": ("CampaignResults", "LoadResult", "TrialResult", "read"),
}

__getattr__ = doors.of_names(
    __name__,
    {
        "errors": ("plimsoll.errors", ""),
        "events": ("plimsoll.events", ""),
        **{
            name: (f"plimsoll.{module}", name)
            for module, names in _NAMES_OF.items()
            for name in names
        },
    },
)


def __dir__() -> list[str]:
    """The public names, for completion in a notebook."""
    return list(__all__)
