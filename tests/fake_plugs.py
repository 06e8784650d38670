"""Plugs with a power meter that speak the protocols of real ones, on loopback."""

from __future__ import annotations

import hashlib
import json
import socketserver
import struct
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

Answer = tuple[int, str]
"""Status and body of a response."""

Answers = Callable[[str, str], Answer]
"""Answers a target and the body that was posted to it."""


@dataclass
class Plug:
    """A plug.

    Attributes:
        watts: What it measures.
        delay_s: How long it takes to answer.
        drip_s: How long it takes for each byte of an answer.
        broken: What it answers instead; empty for the truth.
        asked: What it was asked.
    """

    watts: float = 42.5
    delay_s: float = 0.0
    drip_s: float = 0.0
    broken: str = ""
    asked: list[str] = field(default_factory=list[str])


def shelly_1(plug: Plug) -> Answers:
    """A Shelly of the first generation, with meters of two channels."""
    meters = [{"power": 1.0, "is_valid": True}, {"power": plug.watts, "is_valid": True}]
    return _documents(
        {
            "/shelly": {"type": "SHPLG-S", "mac": "B4E62D000000", "auth": False, "num_meters": 2},
            "/status": {"relays": [{"ison": True}] * 2, "meters": meters, "uptime": 9},
        }
    )


def shelly_2(plug: Plug) -> Answers:
    """A Shelly of a later generation, with a switch that has a meter and one that has none."""
    switch = {"id": 0, "output": True, "apower": plug.watts, "voltage": 231.2, "current": 0.2}
    return _documents(
        {
            "/shelly": {"name": None, "id": "shellyplugs", "gen": 2, "auth_en": False},
            "/rpc/Shelly.GetStatus": {
                "sys": {"uptime": 9},
                "switch:0": switch,
                "switch:1": {"id": 1, "output": False},
                "em1:2": {"id": 2, "act_power": plug.watts / 2},
                "em:3": {"id": 3, "a_act_power": 1.0, "total_act_power": plug.watts + 2},
            },
        }
    )


def tasmota(plug: Plug) -> Answers:
    """A plug with Tasmota."""
    energy = {"Total": 3.185, "Power": plug.watts, "Voltage": 231}
    sensors = {"StatusSNS": {"Time": "2026-01-01T00:00:00", "ENERGY": energy}}
    return _documents({"/cm?cmnd=Status%208": sensors})


def tasmota_of_three_phases(plug: Plug) -> Answers:
    """A meter with Tasmota that reports each phase."""
    sensors = {"StatusSNS": {"ENERGY": {"Power": [plug.watts, 1.5, 0]}}}
    return _documents({"/cm?cmnd=Status%208": sensors})


def tasmota_with_password(_: Plug) -> Answers:
    """A plug with Tasmota that requires a password."""
    warning = {"WARNING": "Need user=<username>&password=<password>"}
    return _documents({"/cm?cmnd=Status%208": warning})


def fritz(plug: Plug, password: str = "geheim", session: str = "9c977765016899f8") -> Answers:  # noqa: S107 - of a fake
    """A FRITZ!Box with a plug, by AVM's documents of its login and of its smart home."""
    challenge = "2$10000$5A1711$2000$5A1722"
    first = hashlib.pbkdf2_hmac("sha256", password.encode(), bytes.fromhex("5A1711"), 10_000)
    right = "5A1722$" + hashlib.pbkdf2_hmac("sha256", first, bytes.fromhex("5A1722"), 2_000).hex()

    def answers(target: str, body: str) -> Answer:
        parts = urlsplit(target)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path == "/login_sid.lua" and query.get("version") == "2":
            is_right = parse_qs(body).get("response") == [right]
            sid = session if is_right else "0" * 16
            document = f"<SID>{sid}</SID><Challenge>{challenge}</Challenge><BlockTime>0</BlockTime>"
            return 200, f"<?xml version='1.0'?><SessionInfo>{document}</SessionInfo>"
        if parts.path != "/webservices/homeautoswitch.lua" or query.get("sid") != session:
            return 403, "Forbidden"
        known = query.get("ain") == "116570000000" and query.get("switchcmd") == "getswitchpower"
        return 200, f"{round(plug.watts * 1000)}\n" if known else "inval\n"

    return answers


def _documents(known: dict[str, dict[str, Any]]) -> Answers:
    def answers(target: str, _: str) -> Answer:
        return (200, json.dumps(known[target])) if target in known else (404, "Not Found")

    return answers


@contextmanager
def http(kind: Callable[[Plug], Answers], plug: Plug) -> Generator[str]:
    """Serves a plug over HTTP.

    Yields:
        Its address: `127.0.0.1:12345`.
    """

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            plug.asked.append(self.path)
            time.sleep(plug.delay_s)
            status, text = kind(plug)(self.path, body)
            if plug.broken:
                status, text = 200, plug.broken
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            with suppress(ConnectionError):  # who asked may have gone
                for start in range(0, len(text), 1 if plug.drip_s else len(text) or 1):
                    time.sleep(plug.drip_s)
                    part = text[start : start + 1] if plug.drip_s else text
                    self.wfile.write(part.encode())

        do_GET = do_POST = _answer  # noqa: N815 - names of the library

        def log_message(self, format: str, *args: object) -> None:
            pass

    with _served(ThreadingHTTPServer(("127.0.0.1", 0), Handler)) as address:
        yield address


@contextmanager
def kasa(plug: Plug) -> Generator[str]:
    """Serves a Kasa plug: JSON by an XOR cipher behind its length, as on port 9999.

    Yields:
        Its address: `127.0.0.1:12345`.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while head := self.request.recv(4, 0x100):  # MSG_WAITALL
                (length,) = struct.unpack(">I", head)
                asked = json.loads(_xored(self.request.recv(length, 0x100), is_cipher=True))
                plug.asked.append(json.dumps(asked))
                time.sleep(plug.delay_s)
                answer = plug.broken or json.dumps(_of_kasa(plug, asked))
                cipher = _xored(answer.encode(), is_cipher=False)
                self.request.sendall(struct.pack(">I", len(cipher)) + cipher)

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with _served(server) as address:
        yield address


def _xored(data: bytes, *, is_cipher: bool) -> bytes:
    """Each byte XOR the one of the cipher before it, the first one XOR 171."""
    key, found = 171, bytearray()
    for byte in data:
        found.append(key ^ byte)
        key = byte if is_cipher else found[-1]
    return bytes(found)


def _of_kasa(plug: Plug, asked: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    known = {
        ("system", "get_sysinfo"): {
            "sw_ver": "1.5.4 Build 180815 Rel.121440",
            "hw_ver": "2.0",
            "type": "IOT.SMARTPLUGSWITCH",
            "model": "HS110(EU)",
            "mac": "50:C7:BF:00:00:00",
            "deviceId": "8006",
            "hwId": "045C",
            "oemId": "1998",
            "alias": "server",
            "dev_name": "Smart Wi-Fi Plug With Energy Monitoring",
            "relay_state": 1,
            "on_time": 9,
            "active_mode": "none",
            "feature": "TIM:ENE",
            "updating": 0,
            "rssi": -50,
            "led_off": 0,
            "latitude_i": 0,
            "longitude_i": 0,
            "err_code": 0,
        },
        ("emeter", "get_realtime"): {
            "voltage_mv": 231_200,
            "current_ma": 200,
            "power_mw": round(plug.watts * 1000),
            "total_wh": 3,
            "err_code": 0,
        },
        ("time", "get_time"): {
            **{"year": 2026, "month": 1, "mday": 1, "hour": 0, "min": 0, "sec": 0},
            "err_code": 0,
        },
        ("time", "get_timezone"): {"index": 39, "err_code": 0},
        ("emeter", "get_daystat"): {"day_list": [], "err_code": 0},
        ("emeter", "get_monthstat"): {"month_list": [], "err_code": 0},
    }
    unknown = {"err_code": -1, "err_msg": "module not support"}
    return {
        module: {method: known.get((module, method), unknown) for method in methods}
        for module, methods in asked.items()
    }


@contextmanager
def _served(server: socketserver.TCPServer) -> Generator[str]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        host, port = server.server_address[:2]
        yield f"{host}:{port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
