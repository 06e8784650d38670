"""Checks that a running server keeps the contract, before and after every trial.

The same bytes are sent and read as under load. Beyond the requests of the load, values are drawn
that a shortcut gets wrong. Two requests share a connection, and requests that must be refused are
followed by one that must get a response. Requests come in pieces and in chunks, and paths that do
not exist are requested, some of them nearly that of the endpoint.
"""

from __future__ import annotations

import gzip
import math
import time
import zlib
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random
from statistics import median
from string import ascii_lowercase
from typing import TYPE_CHECKING

from plimsoll import wording
from plimsoll.campaign.endpoints import ENDPOINTS, mix
from plimsoll.campaign.requests import Exchange, Expected, HttpResponse, Request
from plimsoll.errors import ContractBroken
from plimsoll.recording import ResponseHead
from plimsoll.recording.framework_check import ContractViolation
from plimsoll.serving import change_contract, messages, row_contract, surroundings
from plimsoll.serving.asking import Client, ResponseMissing
from plimsoll.serving.change_contract import Outside

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from plimsoll.campaign.load import Protocol
    from plimsoll.campaign.requests import Endpoint, Pairs
    from plimsoll.campaign.tls import Tls
    from plimsoll.serving.asking import Address, Form, ServerResponse
    from plimsoll.serving.change_contract import Execute, Write

TIMEOUT_S = 10.0
"""A request without a complete response after this long has none, in seconds."""

_SHOWN = 60
_WHOLE_BYTES = 1 << 17
_EXCERPT = 20
_REFUSED_FROM = 400
_RIGHT = (200, 200)
_HINT = "see the contract in `frameworks/README.md` and the server's log"

_KEEP_ALIVE = "two requests on one connection both get a response on it"
_NEXT_ANSWERED = "a rejected request does not affect the next one"
_NOT_FOUND = "an unknown path returns 404"
_COMPUTED = "every response is computed for its request, none is cached"
_ASKED = "every response waits for the upstream, which takes 5 ms"
_EARLY = "the response came before the request was complete"
_FORMS: dict[Form, str] = {"split": surroundings.SPLIT, "chunked": surroundings.CHUNKED}

_LARGEST_BY_HTTP2 = 65_535
"""By HTTP/2 the check sends no longer bodies, in bytes: unlike a load, it waits for no window.

Source:
    RFC 9113, section 6.9.2: the first window of a stream and of a connection.
"""

_ASKED_OF_A_KIND = 8
"""Each request type is sent so often at least, so that a varying spelling shows."""

_STREAMS_AGAIN = 2
"""A stream whose events come all at once is asked for so often again."""

_DATES_AGAIN = 3
"""A server that was frozen is given the time to renew an old `Date` so often at most."""

_ASKED_TWICE = 64
"""So many requests of each type are sent twice at most."""

_PAIRS_AT_ONCE = 16
"""So many pairs of equal work are timed before it is decided whether more are needed."""

_LENGTHENED_BY = 8
"""So many letters make another path of one that exists."""

_DISTURBED = 1.5
"""Half of the responses took longer than the fastest by this factor: the host is disturbed."""

_MUCH_FASTER = 0.5
"""A response in less than this share of the time that the same work took was not computed."""

_CHANCE = 0.01
"""So improbable it must be that a disturbed host alone made so many of the second ones faster."""


@dataclass(frozen=True)
class CheckedServer:
    """A server whose contract is checked.

    Attributes:
        address: Where it listens.
        keep_alive: Whether the trial keeps its connections; if not, nor does the check.
        excepted: Rules of `CONTRACT_NOTES` that it need not keep.
        execute: Runs statements on its database; None if it has none.
        write: Changes a file of its folder; None if it has none.
        timeout_s: Time for each response, in seconds.
        tls: TLS to the server; None for plain TCP.
        protocol: What is spoken.
        was_frozen: Whether it was frozen until now, and may first have to renew its `Date`.
    """

    address: Address
    keep_alive: bool = True
    excepted: Collection[str] = ()
    execute: Execute | None = None
    write: Write | None = None
    timeout_s: float = TIMEOUT_S
    tls: Tls | None = None
    protocol: Protocol = "http1"
    was_frozen: bool = False

    def client(self) -> Client:
        """A client that is not yet connected to it."""
        return Client(self.address, self.keep_alive, self.timeout_s, self.tls, self.protocol)


@dataclass(frozen=True)
class Verified:
    """What a server that keeps the contract has shown.

    Attributes:
        exchanges: The exchanges of the load. Where the contract does not fix the body, and the
            server sent the same one for each request of the type every time, that body is expected.
        heads: The head of the response to each kind of request of the load.
        requests_sent: How many requests were sent.
        responses: How many of them got a response with status 200.
    """

    exchanges: tuple[Exchange, ...]
    heads: tuple[ResponseHead, ...] = ()
    requests_sent: int = 0
    responses: int = 0


def verify(server: CheckedServer, endpoint: Endpoint, seed: int) -> Verified:
    """Asks a server whether it keeps the contract at one endpoint.

    Args:
        server: The server.
        endpoint: What to ask.
        seed: Seeds the values that are drawn.

    Returns:
        The exchanges of the load with what was learned about their responses.

    Raises:
        ContractBroken: It does not; every failure is named.
    """
    client = server.client()
    found = _examined(client, endpoint, server, seed)
    if found.failures:
        sentences = [str(failure) for failure in _once(found.failures)]
        message = "\n".join((f"`{endpoint.name}` breaks the contract", *sentences))
        raise ContractBroken(message, _HINT, sentences)
    heads = tuple(found.heads.values())
    return Verified(tuple(found.exchanges), heads, client.requests_sent, found.responses)


def failures(server: CheckedServer, endpoint: Endpoint, seed: int) -> tuple[ContractViolation, ...]:
    """What a server does against the contract at one endpoint.

    Args:
        server: The server.
        endpoint: What to ask.
        seed: Seeds the values that are drawn.

    Returns:
        Every failure; none when the contract is kept.
    """
    return tuple(_examined(server.client(), endpoint, server, seed).failures)


def _examined(client: Client, endpoint: Endpoint, server: CheckedServer, seed: int) -> _Examination:
    """What a server does at one endpoint, asked as the protocol of a client allows."""
    not_asked = surroundings.OF_HTTP1 if client.protocol == "http2" else ()
    outside = Outside(server.execute, server.write)
    excepted = {*server.excepted, *endpoint.excepted, *not_asked}
    waits = _DATES_AGAIN if server.was_frozen else 0
    with closing(client):
        asked = _Examination(client, endpoint.of_seed(seed), excepted, outside, waits)
        return asked.done(seed)


def problems(expected: Expected, response: HttpResponse) -> list[str]:
    """What is wrong with a response.

    Args:
        expected: What a right one looks like.
        response: The one that came.

    Returns:
        Sentences; none if it is correct. A wrong status is reported alone.
    """
    first, last = expected.status
    if not first <= response.status <= last:
        wanted = f"`{first}`" if first == last else f"from `{first}` to `{last}`"
        return [f"the status is `{response.status}`, expected {wanted}"]
    checked = expected.check_body and expected.check_body(response.body)
    streamed = expected.events and expected.events.problem(response)
    found = (_wrong_body(expected, response.body), expected.check(response), checked, streamed)
    return [problem for problem in found if problem is not None]


def _wrong_body(expected: Expected, body: bytes) -> str | None:
    if expected.length_bytes is not None and len(body) != expected.length_bytes:
        return f"the body has {len(body)} bytes, expected {expected.length_bytes}"
    if expected.body is not None and body != expected.body:
        pairs = enumerate(zip(body, expected.body, strict=False))
        place = next((at for at, (is_, should) in pairs if is_ != should), len(body))
        is_, should = (_excerpt(text[place:]) for text in (body, expected.body))
        return f"the body differs at byte {place}: {is_} instead of {should}"
    return None


@dataclass
class _Examination:
    """Checks all of the contract of a server at one endpoint.

    Attributes:
        client: Asks it.
        endpoint: What is checked.
        excepted: Rules of `CONTRACT_NOTES` that are not checked.
        outside: Changes what the server reads.
        waits: How often the server may still be given time to renew its `Date`.
        failures: What was found so far.
        responses: Responses so far with status 200.
        exchanges: The exchanges of the load, with what was learned of the responses so far.
        heads: The head of the response to each kind of request of the load.
        varying: Request types of which one had two bodies.
    """

    client: Client
    endpoint: Endpoint
    excepted: Collection[str]
    outside: Outside
    waits: int
    failures: list[ContractViolation] = field(default_factory=list["ContractViolation"])
    responses: int = 0
    exchanges: list[Exchange] = field(init=False)
    heads: dict[str, ResponseHead] = field(default_factory=dict[str, "ResponseHead"])
    varying: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        """Nothing is learned yet."""
        self.exchanges = list(self.endpoint.exchanges)

    def done(self, seed: int) -> _Examination:
        """Asks for everything, or until there is no use in asking on."""
        random = Random(seed)  # noqa: S311  a seed makes it repeatable
        if self.endpoint.protocol == "websocket":
            return self._with_messages(random)
        drawn = self.endpoint.probes(random)
        probes = tuple(one for one in drawn if self._is_asked(one))
        with suppress(ResponseMissing):  # hopeless, and among the failures already
            self._ask_as_under_load(random)
            self._unlearn()
            for probe in probes:
                self._probe(probe)
            self._ask_in_forms(probes)
            if self.endpoint.large is not None:
                self._ask_in_form("chunked", self.endpoint.large(random))
            self.client.close()
            if self.endpoint.changes is not None:
                changes = self.endpoint.changes(random)
                asked = (change for change in changes if self._is_asked(change.after))
                change_contract.examine(asked, self.outside, self)
            if self.endpoint.database is not None and self.outside.execute is not None:
                use, exchange = self.endpoint.database, self.endpoint.exchanges[0]
                row_contract.examine(use, exchange, self.outside.execute, self)
            if self.endpoint.laborious is not None:
                for pairs in self.endpoint.laborious(random):
                    self._ask_for_work(pairs)
            self._ask_for_absent_paths(random)
        return self

    def _ask_for_absent_paths(self, random: Random) -> None:
        """Paths that do not exist, as long as each is found to be absent."""
        before = len(self.failures)
        for absent in _absent_paths(self.endpoint, random):
            self._judged(self.client.ask, absent, _NOT_FOUND)
            if len(self.failures) > before:
                return

    def _is_asked(self, exchange: Exchange) -> bool:
        """Whether no note exempts from an exchange, and its body can be sent."""
        is_sendable = (
            self.client.protocol != "http2" or len(exchange.request.body) <= _LARGEST_BY_HTTP2
        )
        return is_sendable and exchange.expected.excepted_by not in self.excepted

    def _with_messages(self, random: Random) -> _Examination:
        """Sends messages of WebSocket in every form."""
        request = self.endpoint.exchanges[0].request
        for found in messages.problems(self.client, request, random, self.excepted):
            texts = (found.sent, found.came, found.problem, found.rule)
            self.failures.append(ContractViolation(*map(_printable, texts), sent=found.sent))
        return self

    def _ask_as_under_load(self, random: Random) -> None:
        """Some requests of each kind twice; the others once, where their bodies must be learned."""
        kinds: dict[str, list[int]] = {}
        for at, exchange in enumerate(self.exchanges):
            if self._is_asked(exchange):
                kinds.setdefault(exchange.request.name, []).append(at)
        for name, places in kinds.items():
            random.shuffle(places)
            again = max(_ASKED_OF_A_KIND // len(places) - 1, 1)
            for at in places[:_ASKED_TWICE]:
                self._ask_again_and_again(at, again)
            for at in places[_ASKED_TWICE:]:
                if not self.failures and name not in self.varying:
                    self._ask_once(at)

    def _ask_once(self, at: int) -> None:
        """One request whose body is not fixed by the contract: the one that comes is expected."""
        exchange = self.exchanges[at]
        expected = exchange.expected
        if expected.body is not None or expected.events is not None:
            return
        responded = self._judged(self.client.ask, exchange, _rule(exchange, self.endpoint))
        if responded is not None:
            self.exchanges[at] = _learned(exchange, responded.response.body)

    def _ask_again_and_again(self, at: int, again: int) -> None:
        """Requests on one connection; what the responses have in common is what is expected."""
        exchange = self.exchanges[at]
        rule = _rule(exchange, self.endpoint)
        self.client.close()
        first = self._judged(self.client.ask, exchange, rule)
        if first is None:
            return
        name = exchange.request.name
        self.heads.setdefault(name, _head(name, first))
        for _ in range(again if exchange.expected.is_recomputed else 1):
            if self.client.keep_alive:
                then = self._judged(self.client.ask_again, exchange, rule, or_else=_KEEP_ALIVE)
            else:
                then = self._judged(self.client.ask, exchange, rule)
            if then is None:
                return
            if then.response.body != first.response.body:
                self.varying.add(name)
        self.exchanges[at] = _learned(exchange, first.response.body)

    def _unlearn(self) -> None:
        """For a type that once had two bodies, no body is expected to the byte."""
        self.exchanges = [
            wanted if wanted.request.name in self.varying else learned
            for wanted, learned in zip(self.endpoint.exchanges, self.exchanges, strict=True)
        ]

    def _probe(self, probe: Exchange) -> None:
        self._judged(self.client.ask, probe, _rule(probe, self.endpoint))
        following = self.endpoint.exchanges[0]
        if probe.expected.status[1] >= _REFUSED_FROM and self._is_asked(following):
            rule = _rule(following, self.endpoint)
            self._judged(self.client.ask, following, rule, or_else=_NEXT_ANSWERED)

    def _ask_in_forms(self, probes: Iterable[Exchange]) -> None:
        """The first probe of each path in three pieces, and its body in chunks."""
        right = (probe for probe in probes if probe.expected.status == _RIGHT)
        first = {_path(probe.request): probe for probe in reversed(list(right))}
        for probe in first.values():
            for form in _FORMS:
                if form == "split" or probe.request.body:
                    self._ask_in_form(form, probe)

    def _ask_in_form(self, form: Form, probe: Exchange) -> None:
        if form in self.excepted:
            return
        rule = _FORMS[form]
        self.client.close()
        responded = self._judged(partial(self.client.ask, form=form), probe, rule)
        if responded is not None and responded.early:
            self._note(probe.request, _shown_response(responded.response), _EARLY, rule)

    def _ask_for_work(self, repeated: Pairs) -> None:
        """Whether the second of two takes its time.

        What disturbs a response makes it slower, so the fastest of the first ones is compared with
        the fastest of the second ones. If these differ much from the others, more are sent.
        """
        times = WorkTimes()
        for at, pair in enumerate(repeated.pairs, 1):
            both = [self._judged(self.client.ask, one, _rule(one, self.endpoint)) for one in pair]
            first, then = both
            if first is not None and then is not None:
                times.pairs.append((first.took_s, then.took_s))
            if at % _PAIRS_AT_ONCE == 0 and times.are_clear:
                break
        if times.are_suspicious:
            first_s, then_s = times.fastest_s
            response = (
                f"{repeated.second} took {wording.decimals(then_s * 1e3, 2)} ms against "
                f"{wording.decimals(first_s * 1e3, 2)} ms"
            )
            faster = f"{times.faster} of {len(times.pairs)} repeated requests"
            problem = f"{faster} took less than half the time"
            self._note(repeated.pairs[0][1].request, response, problem, _COMPUTED)

    def ask(self, exchange: Exchange, rule: str) -> ServerResponse | None:
        """The response to a request, after noting all that is wrong with it."""
        return self._judged(self.client.ask, exchange, rule)

    def note(self, exchange: Exchange, responded: ServerResponse, problem: str, rule: str) -> None:
        """Notes a problem of a response."""
        self._note(exchange.request, _shown_response(responded.response), problem, rule)

    def _judged(
        self,
        ask: Callable[[Request], ServerResponse],
        exchange: Exchange,
        rule: str,
        or_else: str = "",
    ) -> ServerResponse | None:
        """The response to a request if one came, after noting all that is wrong with it.

        Args:
            ask: Gets the response.
            exchange: The request and what is expected.
            rule: The rule of the contract on the response.
            or_else: The rule on there being a response, if that is another one.

        Raises:
            ResponseMissing: None came, and there is no use in asking on.
        """
        request = exchange.request
        try:
            responded, found = self._asked(ask, exchange)
        except ResponseMissing as error:
            self._note(request, str(error), "there is no response", or_else or rule)
            if error.hopeless:
                raise
            return None
        shown = _shown_response(responded.response)
        for problem in found:
            self._note(request, shown, problem, rule)
        if not found and exchange.expected.status == _RIGHT:
            self._note_surroundings(request, responded, shown)
            least_s = self.endpoint.upstream_s
            if least_s is not None and responded.took_s < least_s:
                problem = f"it came after {wording.seconds(responded.took_s)}"
                self._note(request, shown, problem, _ASKED)
        return responded

    def _asked(
        self, ask: Callable[[Request], ServerResponse], exchange: Exchange
    ) -> tuple[ServerResponse, list[str]]:
        """The response to a request, and what is wrong with it.

        A stream whose events come all at once is asked for again: a host without a free core delays
        who waits for them. A server that was frozen between turns gets time to renew its `Date`: it
        still has that of the instant at which it was frozen.
        """
        responded, found = self._asked_once(ask, exchange)
        while self.waits and not found and self._is_behind(responded):
            self.waits -= 1
            time.sleep(surroundings.RENEWED_S)
            responded, found = self._asked_once(ask, exchange)
        events = exchange.expected.events
        for _ in range(_STREAMS_AGAIN):
            if events is None or found != [events.at_once(responded.response)]:
                break
            responded, found = self._asked_once(ask, exchange)
        return responded, found

    def _is_behind(self, responded: ServerResponse) -> bool:
        return "date" not in self.excepted and surroundings.is_behind(responded)

    def _asked_once(
        self, ask: Callable[[Request], ServerResponse], exchange: Exchange
    ) -> tuple[ServerResponse, list[str]]:
        responded = _decoded(exchange.expected, ask(exchange.request))
        if responded.response.status == _RIGHT[0]:
            self.responses += 1
        return responded, problems(exchange.expected, responded.response)

    def _note_surroundings(self, request: Request, responded: ServerResponse, shown: str) -> None:
        """What is wrong with a head, once for each rule: it is so in all of them."""
        keep_alive, known = self.client.keep_alive, {failure.rule for failure in self.failures}
        for rule, problem in surroundings.problems(responded, self.excepted, keep_alive=keep_alive):
            if rule not in known:
                self._note(request, shown, problem, rule)

    def _note(self, request: Request, response: str, problem: str, rule: str) -> None:
        self.failures.append(_failure(request, response, problem, rule))


@dataclass
class WorkTimes:
    """Times of the two responses of each pair, in seconds."""

    pairs: list[tuple[float, float]] = field(default_factory=list["tuple[float, float]"])

    @property
    def fastest_s(self) -> tuple[float, float]:
        """The fastest of the first and of the second ones; the least that their work takes."""
        first, then = zip(*self.pairs, strict=True)
        return min(first), min(then)

    @property
    def faster(self) -> int:
        """How many of the second ones took less than half the time of their first one."""
        return sum(then < first * _MUCH_FASTER for first, then in self.pairs)

    @property
    def are_suspicious(self) -> bool:
        """Whether the second ones were not computed, by the fastest and by how many are faster."""
        if not self.pairs:
            return False
        first_s, then_s = self.fastest_s
        return then_s < first_s * _MUCH_FASTER and self._chance < _CHANCE

    @property
    def _chance(self) -> float:
        """Probability of so many faster ones if a disturbed host slows both alike (sign test)."""
        slower = sum(first < then * _MUCH_FASTER for first, then in self.pairs)
        unequal = self.faster + slower
        ways = sum(math.comb(unequal, count) for count in range(self.faster, unequal + 1))
        return ways / 2**unequal

    @property
    def are_clear(self) -> bool:
        """Whether more pairs would tell the same: most of them do, and nothing disturbed them."""
        if self.are_suspicious:
            return self.faster > len(self.pairs) / 2
        seconds = [then for _, then in self.pairs]
        return not seconds or median(seconds) < min(seconds) * _DISTURBED


def _once(failures: Iterable[ContractViolation]) -> list[ContractViolation]:
    """Failures without repetitions: a request may be wrong however it is sent."""
    return list({(one.sent, one.problem): one for one in reversed(list(failures))}.values())[::-1]


def _failure(request: Request, response: str, problem: str, rule: str) -> ContractViolation:
    """A failure without anything that a terminal would act upon, whatever the server sent."""
    texts = (_shown_request(request), response, problem, rule)
    return ContractViolation(*(_printable(text) for text in texts), sent=_whole(request))


def _printable(text: str) -> str:
    return "".join(
        character if character.isprintable() else ascii(character)[1:-1] for character in text
    )


def _head(name: str, responded: ServerResponse) -> ResponseHead:
    """The head of a response: how long it is, and what of it is which field."""
    fields: dict[str, int] = {}
    for field_name, value in responded.response.headers:
        fields[field_name] = fields.get(field_name, 0) + len(f"{field_name}: {value}\r\n")
    return ResponseHead(name, responded.head_bytes, fields, responded.segments)


def _learned(exchange: Exchange, body: bytes) -> Exchange:
    """The exchange, with the body that came each time where the contract does not fix it."""
    expected = exchange.expected
    if expected.body is not None or expected.events is not None:
        return exchange
    return replace(exchange, expected=replace(expected, body=body, length_bytes=len(body)))


def _absent_paths(endpoint: Endpoint, random: Random) -> tuple[Exchange, ...]:
    """A path like no other, and two that are nearly one of an endpoint, for each that it has.

    A router that compares the beginning of a path takes the first of these for it, and one that
    compares its length and some of its letters the second. Neither has a body: a server may refuse
    the type of a body before it looks at the path.
    """
    asked = (exchange.request for exchange in endpoint.exchanges)
    own = {request.target.split("/")[1].partition("?")[0]: request for request in asked}
    near = (
        replace(request, name="absent", target=target, headers=(), body=b"")
        for first, request in own.items()
        for other in (_lengthened(first, random), _altered(first, random))
        if (target := request.target.replace(first, other, 1))
    )
    absent = Request("absent", "GET", f"/absent-{random.getrandbits(64):016x}")
    return tuple(Exchange(one, Expected(status=(404, 404))) for one in (absent, *near))


def _lengthened(word: str, random: Random) -> str:
    return word + "".join(random.choices(ascii_lowercase, k=_LENGTHENED_BY))


def _altered(word: str, random: Random) -> str:
    """A word with another letter or digit in one place; routers may take `A` for `a`."""
    at = random.randrange(len(word))
    return word[:at] + random.choice(ascii_lowercase.replace(word[at].lower(), "")) + word[at + 1 :]


def _decoded(expected: Expected, responded: ServerResponse) -> ServerResponse:
    """A response whose body is freed of a coding that the request accepts, as under load."""
    response = responded.response
    if "gzip" not in expected.codings or response.codings != ("gzip",):
        return responded
    try:
        body = gzip.decompress(response.body)
    except (OSError, EOFError, zlib.error):  # it is compared as it is, and wrong
        return responded
    decoded = replace(response, body=body, coded_bytes=len(response.body))
    return replace(responded, response=decoded)


def _path(request: Request) -> str:
    return request.target.partition("?")[0]


_SUMMARIES = {
    _path(exchange.request): endpoint.summary
    for endpoint in ENDPOINTS
    if endpoint.name != mix.NAME
    for exchange in endpoint.exchanges
}


def _rule(exchange: Exchange, endpoint: Endpoint) -> str:
    """The rule of the contract on an exchange; one of `mix` has that of its own endpoint."""
    if exchange.expected.excepted_by:
        return surroundings.BY_NAME[exchange.expected.excepted_by]
    first, last = exchange.expected.status
    if last >= _REFUSED_FROM:
        status = f"{first}" if first == last else f"a status from {first} to {last}"
        return f"{exchange.request.name} returns {status}"
    if endpoint.name != mix.NAME:
        return endpoint.summary
    return _SUMMARIES.get(_path(exchange.request), endpoint.summary)


def _shown_request(request: Request) -> str:
    target = request.target
    if len(target) > _SHOWN:
        target = f"{target[:_SHOWN]}…"
    return f"`{request.method} {target}`{_shown_body(request.body)}"


def _whole(request: Request) -> str:
    """A request line by line; what is not text in UTF-8, or not printable, is escaped."""
    head = [f"{request.method} {request.target}", *(": ".join(pair) for pair in request.headers)]
    body = request.body[:_WHOLE_BYTES].decode("utf-8", "backslashreplace").split("\r\n")
    lines = [*head, "", *body] if request.body else head
    if len(request.body) > _WHOLE_BYTES:
        lines.append(f"… and {len(request.body) - _WHOLE_BYTES} more bytes")
    return "\n".join(_printable(line) for line in lines)


def _shown_response(response: HttpResponse) -> str:
    kind = response.header("content-type") or "no type"
    return f"{response.status}, {kind}, {len(response.body)} bytes{_shown_body(response.body)}"


def _excerpt(body: bytes) -> str:
    """The first bytes of what is left of a body, or that there is nothing left."""
    if not body:
        return "nothing"
    more = "…" if len(body) > _EXCERPT else ""
    return f"`{body[:_EXCERPT].decode(errors='replace')}{more}`"


def _shown_body(body: bytes) -> str:
    """The beginning of a body."""
    if not body:
        return ""
    more = "…" if len(body) > _SHOWN else ""
    return f" `{body[:_SHOWN].decode(errors='replace')}{more}`"
