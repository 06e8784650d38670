"""Serving: a server is started, checked against the contract, and stopped."""
