"""Processes: commands under a supervisor, process trees, their ports and logs."""
