"""The formats of a report; apart from the package, which would else import all of them at once."""

from plimsoll.report import card, html, markdown, pdf, terminal

FORMATS = (html, markdown, pdf, card, terminal)
"""Every format."""
