"""The types of what `import plimsoll` offers; `__init__.py` imports each at its first use."""

from plimsoll import errors as errors
from plimsoll import events as events
from plimsoll.errors import DriverError as DriverError
from plimsoll.errors import FrameworkError as FrameworkError
from plimsoll.errors import HostError as HostError
from plimsoll.errors import InputError as InputError
from plimsoll.errors import Interrupted as Interrupted
from plimsoll.errors import PlimsollError as PlimsollError
from plimsoll.errors import StorageError as StorageError
from plimsoll.lab.audits import AuditResult as AuditResult
from plimsoll.lab.audits import audit as audit
from plimsoll.lab.calibrations import CalibrationResult as CalibrationResult
from plimsoll.lab.calibrations import calibrate as calibrate
from plimsoll.lab.campaigns import run as run
from plimsoll.lab.charts import TrialChart as TrialChart
from plimsoll.lab.checks import CheckResult as CheckResult
from plimsoll.lab.checks import check as check
from plimsoll.lab.comparing import ComparisonResult as ComparisonResult
from plimsoll.lab.comparing import compare as compare
from plimsoll.lab.imports import ImportResult as ImportResult
from plimsoll.lab.imports import import_recording as import_recording
from plimsoll.lab.line_results import LineResult as LineResult
from plimsoll.lab.lines import line as line
from plimsoll.lab.loads import load as load
from plimsoll.lab.results import CampaignResults as CampaignResults
from plimsoll.lab.results import LoadResult as LoadResult
from plimsoll.lab.results import TrialResult as TrialResult
from plimsoll.lab.results import read as read

__version__: str
__all__: list[str]
