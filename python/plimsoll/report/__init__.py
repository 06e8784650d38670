"""Reports: one module for each format, `write(findings, into)`."""

from plimsoll.report import html, markdown, pdf, terminal

FORMATS = (html, markdown, pdf, terminal)
"""Every format."""
