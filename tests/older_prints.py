"""Prints of versions of tools that came before those whose prints are in `golden/published`."""

AUTOCANNON = """Running 10s test @ http://localhost:3000
100 connections

Stat         Avg      Stdev    Max
Latency (ms) 2.31     7.13     171
Req/Sec      39030.1  1200.5   40311
Bytes/Sec    5.19 MB  120 kB   5.4 MB

390k requests in 10s, 51.9 MB read
"""
