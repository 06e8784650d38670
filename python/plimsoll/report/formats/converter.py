"""Converter: Vega-Lite specifications to SVG in a process of its own, so that each core has one.

Run as a program, it reads a JSON list of specifications from its standard input, each as text, and
writes a JSON list of as many pictures.
"""

from __future__ import annotations

import json
import sys

import vl_convert


def convert(specifications: list[str]) -> list[str]:
    """Pictures of specifications as SVG, in the same order."""
    return [vl_convert.vegalite_to_svg(one) for one in specifications]


if __name__ == "__main__":
    json.dump(convert(json.load(sys.stdin)), sys.stdout)
