"""What holds for every verdict that these tests make."""

import re

import pytest

from plimsoll.verdicts.verdict import Sentence

MOST_WORDS = 30
NEXT_SENTENCE = re.compile(r"[.!?]\s+\S")


def words(text: str) -> int:
    """The words of a text; numbers and units are none."""
    text = re.sub(r"[\d.,]+ (ns|µs|ms|s|bytes|KiB|GHz|W|[kMG]bit/s)\b", "", text)
    return len(re.findall(r"(?<!\S)\W*[A-Za-z]\S*", text))


@pytest.fixture(autouse=True)
def _sentences_are_short(monkeypatch):
    """Holds every sentence and remedy of a verdict to one sentence of thirty words."""
    made = []
    original = Sentence.__init__

    def noted(self, *values, **named):
        original(self, *values, **named)
        made.append(self)

    monkeypatch.setattr(Sentence, "__init__", noted)
    yield
    texts = {text for one in made for text in (one.text, one.remedy) if text}
    assert [text for text in sorted(texts) if words(text) > MOST_WORDS] == []
    assert [text for text in sorted(texts) if NEXT_SENTENCE.search(text)] == []
