"""The formats that a report can have; importing one of them does not import the others."""

from plimsoll.report.formats import card, html, markdown, pdf, terminal

FORMATS = (html, markdown, pdf, card, terminal)
"""Every format."""
