"""The compliance gate: a server gets requests in bytes that few clients send.

`cases` says what is sent and what the RFCs require, `conversation` sends it, `gate` asks a server
all of it. No result enters a figure of speed or a ranking.
"""
