"""Conducts two trials of the toy server, and prints each event: something to interrupt and kill.

Usage: conduct_toys.py RESULTS MARK. When `SECOND_HAS_CHILD` is set, the server of the second trial
has a child, which outlives it. When `FAKE_ENGINE_STAYS` is set, the load of the second trial goes
on until it is told to end. Every process of a server has `TOY_MARK=MARK` in its environment.
"""

import json
import os
import sys
from pathlib import Path

import fake_engine
import toy_trials
from plimsoll.conduct import campaign
from plimsoll.conduct.run_config import RunConfig
from plimsoll.drivers.tools import plimsoll as driver
from plimsoll.errors import PlimsollError
from plimsoll.events import Event, Phase, TrialStarted
from plimsoll.storage.documents import CampaignFiles
from plimsoll.storage.parquet import ParquetResults


def tell(event: Event) -> None:
    if isinstance(event, TrialStarted):
        is_second = event.trial.repetition == 2
        stays = "FAKE_ENGINE_STAYS" in os.environ and is_second
        os.environ["FAKE_ENGINE"] = json.dumps({"stay": stays})
        if "SECOND_HAS_CHILD" in os.environ and is_second:
            os.environ["TOY_CHILD"] = "1"
    detail = event.name if isinstance(event, Phase) else getattr(event, "number", "")
    print(type(event).__name__, detail, flush=True)


def main() -> int:
    folder, mark = sys.argv[1:]
    driver.COMMAND = (sys.executable, fake_engine.__file__)
    os.environ["TOY_MARK"] = mark
    trials = [toy_trials.trial(number, toy_trials.framework()) for number in (1, 2)]
    try:
        results = ParquetResults(Path(folder))
        ended = campaign.conduct(trials, RunConfig(), results, CampaignFiles(""), tell=tell)
    except PlimsollError as error:
        print(error.message, error.hint, sep="\n", file=sys.stderr)
        return error.exit_code
    print(ended.completed, "completed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
