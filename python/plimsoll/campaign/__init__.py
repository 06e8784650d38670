"""Campaigns, frameworks, tools, endpoints and loads, read from their files."""
