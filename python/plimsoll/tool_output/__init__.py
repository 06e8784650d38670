"""Tool output: parses the results that load tools print."""
