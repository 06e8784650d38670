"""What holds for every verdict that these tests make."""

import re

import pytest

from plimsoll.verdicts.verdict import Sentence

MOST_WORDS = 30


def words(text: str) -> int:
    """The most words of one sentence of a text; numbers and units are none."""
    text = re.sub(r"[\d.,]+ (ns|µs|ms|s|bytes|KiB|GHz|W|[kMG]bit/s)\b", "", text)
    return max(
        len(re.findall(r"(?<!\S)\W*[A-Za-z]\S*", sentence))
        for sentence in re.split(r"(?<=[.])\s", text)
    )


@pytest.fixture(autouse=True)
def _sentences_are_short(monkeypatch):
    """Holds every sentence and remedy of a verdict to thirty words."""
    made = []
    original = Sentence.__init__

    def noted(self, *values, **named):
        original(self, *values, **named)
        made.append(self)

    monkeypatch.setattr(Sentence, "__init__", noted)
    yield
    texts = {text for one in made for text in (one.text, one.remedy) if text}
    assert [text for text in sorted(texts) if words(text) > MOST_WORDS] == []
