"""Findings: derived tables and verdicts of a campaign, gathered for reports."""
