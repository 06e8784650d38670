"""Serving: a server is started, asked whether it keeps the contract, and stopped."""
