"""Sampling: the resources of server, driver and machine, read once a second."""
