"""What each path of the contract answers."""

import json
import zlib

from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse, QueryDict
from django.views.decorators.http import require_GET, require_POST

BODY_2048 = b"A" * 2048


@require_GET
def empty(request: HttpRequest) -> HttpResponse:
    """No body."""
    return HttpResponse()


@require_GET
def constant(request: HttpRequest, body: bytes) -> HttpResponse:
    """The body that the path names."""
    return HttpResponse(body, content_type="text/plain")


@require_GET
def query_args(request: HttpRequest) -> HttpResponse:
    """Arguments in the query."""
    return counted_decoded_bytes(request.GET)


@require_POST
def form_args(request: HttpRequest) -> HttpResponse:
    """Arguments in the body: Django decodes both kinds of form into `request.POST`."""
    return counted_decoded_bytes(request.POST)


@require_GET
def checksum(request: HttpRequest) -> HttpResponse:
    """The CRC-32 of the values by rising name, each followed by a line feed."""
    values = "".join(f"{value}\n" for _, value in sorted(request.GET.items()))
    return HttpResponse(str(zlib.crc32(values.encode())), content_type="text/plain")


@require_POST
def json_echo(request: HttpRequest) -> HttpResponse:
    """A person, decoded and encoded again."""
    try:
        person = json.loads(request.body)
        echo = {name: person[name] for name in ("id", "firstName", "lastName")}
    except (ValueError, TypeError, KeyError):
        return HttpResponseBadRequest("not a person in JSON\n", content_type="text/plain")
    return JsonResponse(echo)


@require_GET
def fibonacci(request: HttpRequest, n: int) -> HttpResponse:
    """The n-th Fibonacci number in decimal."""
    return HttpResponse(str(fibonacci_number(n)), content_type="text/plain")


def counted_decoded_bytes(arguments: QueryDict) -> HttpResponse:
    """The constant body, with the length of all values in UTF-8 as proof that they were decoded."""
    decoded_bytes = sum(len(value.encode()) for value in arguments.values())
    return HttpResponse(
        BODY_2048, content_type="text/plain", headers={"decoded-bytes": str(decoded_bytes)}
    )


def fibonacci_number(n: int) -> int:
    """F(n) by n - 1 additions; F(0) = 0, F(1) = 1."""
    if n == 0:
        return 0
    previous, current = 0, 1
    for _ in range(n - 1):
        previous, current = current, previous + current
    return current
