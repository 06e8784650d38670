"""The reference server as a process: `python -m plimsoll.reference`.

It serves the whole contract with a known service time until SIGTERM or SIGINT. Stdout has two lines
of JSON: `listening`, as soon as connections are accepted, and `stopped`, with the server's own
counters.

Exit codes:

- 0: stopped by a signal
- 2: invalid options
- 3: a limit of this host (the port is in use, a core is not available)
- 5: the server failed
- 6: its log could not be written
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from plimsoll import _engine, addresses

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_NS_PER_UNIT = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}


class _Stopped(Exception):  # noqa: N818 - it never leaves this module
    """A signal requested the end."""


def _stop(number: int, frame: object) -> NoReturn:
    raise _Stopped


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def duration_ns(text: str) -> int:
    """A duration such as `200us`, `1.5ms`, `2s` or `0`, in nanoseconds.

    Raises:
        argparse.ArgumentTypeError: It is not a number with a unit.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ns|us|ms|s)", text)
    if match:
        return round(float(match[1]) * _NS_PER_UNIT[match[2]])
    if text == "0":
        return 0
    message = f"`{text}` is not a duration; write it as 200us, 1.5ms or 2s"
    raise argparse.ArgumentTypeError(message)


def _cores(text: str) -> list[int]:
    try:
        return [int(core) for core in text.split(",") if core]
    except ValueError:
        message = f"`{text}` is not a list of cores; write it as 0,1"
        raise argparse.ArgumentTypeError(message) from None


def _port(text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 2**16:
        return int(text)
    message = f"`{text}` is not a port; it must be from 0 to 65535"
    raise argparse.ArgumentTypeError(message)


def _address(options: argparse.Namespace) -> str:
    """Where the server listens, as the engine crate reads it.

    Raises:
        OSError: The host is unknown.
    """
    if options.unix_socket is not None:
        return addresses.of_socket(str(options.unix_socket.absolute()))
    return _resolved(options.host, options.port)


def _resolved(host: str, port: int) -> str:
    """Address and port as the engine crate reads them.

    Raises:
        OSError: The host is unknown.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    address = str(found[0][4][0])
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m plimsoll.reference",
        description="A server with a known service time.",
        epilog="HOST, PORT, WORKERS, FILES, TLS_CERT and TLS_KEY in the environment are defaults; "
        "AUTH_KEY is the key of tokens.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--host", default=environment.get("HOST", "127.0.0.1"), help="address to listen on")
    add("--port", type=_port, default=environment.get("PORT", "8080"), help="0 takes a free one")
    add("--unix-socket", type=Path, help="socket to listen on, instead of host and port")
    add("--workers", type=int, default=environment.get("WORKERS", "1"), help="worker threads")
    add("--cores", type=_cores, default=[], help="cores of the workers: 0,1")
    add("--acceptors", choices=("many", "one"), default="many", help="listening sockets")
    add("--backlog", type=int, default=4096, help="listen backlog")
    add("--service-time", type=duration_ns, default=0, help="service time: 0, 200us, 1ms")
    add(
        "--second-service-time",
        type=duration_ns,
        help="second service time, for a share of requests",
    )
    add("--second-ratio", type=float, default=0.1, help="that share, from 0 to 1")
    add("--streams", choices=("together", "in-turn"), default="together", help="of HTTP/2")
    add(
        "--exponential",
        action="store_true",
        help="draw service times from an exponential distribution with that mean",
    )
    add(
        "--one-at-a-time",
        action="store_true",
        help="each worker serves one request at a time; the others wait, whatever their connection",
    )
    add("--slower-after", type=duration_ns, help="responses take longer from then on")
    add("--slower-by", type=float, default=1.5, help="how many times as long")
    add("--stall", type=duration_ns, help="stall this long at the end of every period")
    add("--stall-every", type=duration_ns, default="5s", help="length of the period")
    add("--seed", type=int, default=0, help="seed of service times and values")
    add("--files", type=Path, default=environment.get("FILES"), help="items.json and static/")
    certificate, key = environment.get("TLS_CERT"), environment.get("TLS_KEY")
    add(
        "--tls-cert", type=Path, default=certificate, help="serves by TLS: PEM file of certificates"
    )
    add("--tls-key", type=Path, default=key, help="PEM file of the private key to them")
    add("--witness", type=Path, help="file for the service time of each request")
    return parser


def _service_time(options: argparse.Namespace) -> dict[str, object]:
    if options.exponential:
        return {"kind": "exponential", "mean_ns": options.service_time}
    if options.second_service_time is None:
        return {"kind": "fixed", "duration_ns": options.service_time}
    return {
        "kind": "bimodal",
        "duration_ns": options.service_time,
        "second_ns": options.second_service_time,
        "second_ratio": options.second_ratio,
    }


def _slowdown(options: argparse.Namespace) -> dict[str, float] | None:
    if options.slower_after is None:
        return None
    return {"after_ns": options.slower_after, "factor": options.slower_by}


def _stall(options: argparse.Namespace) -> dict[str, int] | None:
    if options.stall is None:
        return None
    return {"duration_ns": options.stall, "period_ns": options.stall_every}


def _witness(path: Path | None) -> dict[str, str]:
    return {} if path is None else {"witness": str(path.resolve())}


def _files(folder: Path | None) -> dict[str, str]:
    return {} if folder is None else {"files": str(folder.resolve())}


def _tls(certificate: Path | None, key: Path | None) -> dict[str, dict[str, str]]:
    if certificate is None or key is None:
        return {}
    return {"tls": {"certificate": str(certificate.resolve()), "key": str(key.resolve())}}


def specification(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """The specification of the server for the reference crate, as JSON.

    Args:
        arguments: The command line without the program.
        environment: Where HOST, PORT, WORKERS, FILES, AUTH_KEY, TLS_CERT and TLS_KEY are looked up.

    Raises:
        SystemExit: An option is invalid; stderr names it, and the exit code is 2.
    """
    parser = _parser(environment)
    options = parser.parse_args(arguments)
    if (options.tls_cert is None) != (options.tls_key is None):
        parser.error("--tls-cert and --tls-key need each other")
    if options.exponential and options.second_service_time is not None:
        parser.error("--exponential has no second service time: leave out --second-service-time")
    try:
        address = _address(options)
    except OSError as error:
        parser.error(f"argument --host: can't find `{options.host}`: {error}")
    return json.dumps(
        {
            "address": address,
            "workers": options.workers,
            "cores": options.cores,
            "acceptors": options.acceptors,
            "backlog": options.backlog,
            "service_time": _service_time(options),
            "streams": options.streams.replace("-", "_"),
            "one_at_a_time": options.one_at_a_time,
            "slowdown": _slowdown(options),
            "stall": _stall(options),
            "seed": options.seed,
            "key": environment.get("AUTH_KEY", ""),
            **_files(options.files),
            **_witness(options.witness),
            **_tls(options.tls_cert, options.tls_key),
        }
    )


def main(arguments: Sequence[str], environment: Mapping[str, str]) -> int:
    """Serves until a signal.

    Args:
        arguments: The command line without the program.
        environment: Where HOST, PORT and WORKERS are looked up.

    Returns:
        The exit code.
    """
    try:
        signal.signal(signal.SIGINT, _stop)
        signal.signal(signal.SIGTERM, _stop)
        counts = _engine.serve_reference(specification(arguments, environment), _say)
        _say(json.dumps({"event": "stopped", **json.loads(counts)}))
    except _engine.EngineFailure as failure:
        message, hint, exit_code = failure.args
        sys.stderr.write(f"error: {message}\nhint: {hint}\n")
        return int(exit_code)
    except _Stopped:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
