"""Formats of a report: one module each, `write(findings, into)`; `registry` lists them."""
