"""Conducts two trials of the toy server, and prints each event: something to interrupt and kill.

Usage: conduct_toys.py RESULTS MARK. Each server has a child. When `FAKE_ENGINE_STAYS` is set, the
load of the second trial goes on until it is told to end. Every process of a server has
`TOY_MARK=MARK` in its environment.
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
        stays = "FAKE_ENGINE_STAYS" in os.environ and event.trial.repetition == 2
        os.environ["FAKE_ENGINE"] = json.dumps({"stay": stays})
    detail = event.name if isinstance(event, Phase) else getattr(event, "number", "")
    print(type(event).__name__, detail, flush=True)


def main() -> int:
    folder, mark = sys.argv[1:]
    driver.COMMAND = (sys.executable, fake_engine.__file__)
    os.environ["TOY_MARK"] = mark
    trials = [toy_trials.trial(number, toy_trials.framework(TOY_CHILD="1")) for number in (1, 2)]
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
