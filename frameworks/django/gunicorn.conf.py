"""Gunicorn reads this file from the folder it is started in."""

import os

bind = f"{os.environ['HOST']}:{os.environ['PORT']}"
backlog = 4096

# One process for each core, because threads of one process share one interpreter lock.
workers = int(os.environ["WORKERS"])
# The default worker, `sync`, closes the connection after every answer.
worker_class = "gthread"
threads = 16
# Of each worker: 1000 connections and 2 s of silence unless told otherwise.
worker_connections = 20_000
keepalive = 3600

# Under Apache, files are Apache's own.
raw_env = ["DJANGO_SETTINGS_MODULE=contract.settings_with_files"]

# Seconds that requests in progress have after SIGTERM.
graceful_timeout = 5

certfile = os.environ.get("TLS_CERT")
keyfile = os.environ.get("TLS_KEY")
if os.environ["PROTOCOL"] == "http2":
    http_protocols = "h2,h1"
    # Without TLS, from peers in `forwarded_allow_ips`: loopback, unless told otherwise.
    http2_cleartext = "prior-knowledge"

# Its default place is one per user, so a second server would take it from the first.
control_socket_disable = True
