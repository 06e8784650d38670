"""Options of other load tools and of curl, and what `plimsoll load` has in their place."""

from __future__ import annotations

IN_PLACE = {
    **dict.fromkeys(("--vus", "-u", "--concurrency", "--clients", "--users"), "-c 100"),
    **dict.fromkeys(("--iterations", "-i", "--number", "--amount"), "-n 10k"),
    **dict.fromkeys(("--rps", "--qps", "--arrival-rate"), "-R 1k"),
    **dict.fromkeys(("--workers", "-w"), "-t 2"),
    **dict.fromkeys(("-X", "--request"), "-m POST"),
    **dict.fromkeys(("--data", "--data-raw", "--data-binary", "-p", "-D"), "-b @FILE"),
    **dict.fromkeys(("--form", "-F", "--upload-file"), "--upload FILE"),
    **dict.fromkeys(("-T", "--content-type"), "-H 'Content-Type: …'"),
    **dict.fromkeys(("-A", "--accept-header"), "-H 'Accept: …'"),
    **dict.fromkeys(("-C", "--cookie"), "-H 'Cookie: …'"),
    **dict.fromkeys(("-a", "--basic-auth", "--user", "-P"), "-H 'Authorization: …'"),
    "--host": "-H 'Host: …'",
    "--user-agent": "-H 'User-Agent: …'",
    "--disable-keepalive": "--no-keepalive",
    **dict.fromkeys(("-L", "--location", "--redirect"), "--follow"),
    "--no-tui": "-q",
    "--insecure-skip-tls-verify": "--insecure",
    "--tls-cert": "--cert FILE",
}
"""Option to what is written in its place."""
