package plimsoll;

import static io.vertx.core.http.HttpHeaders.CONTENT_TYPE;
import static io.vertx.core.http.HttpHeaders.DATE;
import static io.vertx.core.http.HttpMethod.GET;
import static io.vertx.core.http.HttpMethod.POST;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.ZoneOffset.UTC;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.MultiMap;
import io.vertx.core.VerticleBase;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.ServerWebSocket;
import io.vertx.core.http.ServerWebSocketHandshake;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import java.math.BigInteger;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.zip.CRC32;

public class ContractVerticle extends VerticleBase {

    private static final CharSequence TEXT = "text/plain";
    private static final Buffer HELLO_WORLD = Buffer.buffer("Hello, World!");
    private static final Buffer BODY_2048 = Buffer.buffer("A".repeat(2048));
    private static final Buffer BODY_8192 = Buffer.buffer("A".repeat(8192));
    private static final Buffer BODY_32768 = Buffer.buffer("A".repeat(32768));
    private static final String FIBONACCI = "/fibonacci/";

    /** Java's own RFC_1123_DATE_TIME writes the days before the tenth with one digit. */
    private static final DateTimeFormatter HTTP_DATE =
        DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(UTC);

    private record Route(HttpMethod method, String path) {}

    private final Map<Route, Handler<HttpServerRequest>> routes = Map.of(
        new Route(GET, "/empty"), request -> request.response().end(),
        new Route(GET, "/plaintext"), request -> text(request, HELLO_WORLD),
        new Route(GET, "/2048"), request -> text(request, BODY_2048),
        new Route(GET, "/8192"), request -> text(request, BODY_8192),
        new Route(GET, "/32768"), request -> text(request, BODY_32768),
        new Route(GET, "/getArgs2048"), this::queryArguments,
        new Route(POST, "/postArgs2048"), this::form,
        new Route(POST, "/postArgsMulti2048"), this::form,
        new Route(GET, "/args"), this::checksum,
        new Route(POST, "/json"), this::json);

    private final HttpServerOptions listen;
    private CharSequence date;
    private Router router;

    public ContractVerticle(HttpServerOptions listen) {
        this.listen = listen;
    }

    @Override
    public Future<?> start() {
        // Vert.x sends no date of its own.
        setDate();
        vertx.setPeriodic(1000, timer -> setDate());
        router = Router.router(vertx);
        new DatabaseRoutes(vertx).addTo(router);
        new WebRoutes(vertx).addTo(router);
        return vertx.createHttpServer(listen)
            .requestHandler(this::route)
            .webSocketHandshakeHandler(ContractVerticle::admit)
            .webSocketHandler(ContractVerticle::echo)
            .listen();
    }

    private void setDate() {
        date = HttpHeaders.createOptimized(HTTP_DATE.format(Instant.now()));
    }

    private void route(HttpServerRequest request) {
        request.response().putHeader(DATE, date);
        var handler = routes.get(new Route(request.method(), request.path()));
        if (handler != null) {
            handler.handle(request);
        } else if (request.method() == GET && request.path().startsWith(FIBONACCI)) {
            fibonacci(request);
        } else {
            router.handle(request);
        }
    }

    private static void admit(ServerWebSocketHandshake handshake) {
        if (handshake.path().equals("/echo")) {
            handshake.accept();
        } else {
            handshake.reject(404);
        }
    }

    /** Returns every message as it came; Vert.x answers pings and close frames. */
    private static void echo(ServerWebSocket socket) {
        socket.textMessageHandler(socket::writeTextMessage);
        socket.binaryMessageHandler(socket::writeBinaryMessage);
    }

    private void queryArguments(HttpServerRequest request) {
        try {
            countDecodedBytes(request, request.params());
        } catch (IllegalArgumentException brokenEncoding) {
            refuse(request, 400);
        }
    }

    /** Forms of both kinds: the content type says which one it is. */
    private void form(HttpServerRequest request) {
        request.setExpectMultipart(true)
            .exceptionHandler(broken -> refuse(request, 400))
            .endHandler(end -> countDecodedBytes(request, request.formAttributes()));
    }

    /** Answers with the CRC-32 of the values by rising name, each followed by a line feed. */
    private void checksum(HttpServerRequest request) {
        try {
            var arguments = request.params();
            var crc = new CRC32();
            for (var name : new TreeSet<>(arguments.names())) {
                crc.update((arguments.get(name) + "\n").getBytes(UTF_8));
            }
            text(request, Buffer.buffer(Long.toString(crc.getValue())));
        } catch (IllegalArgumentException brokenEncoding) {
            refuse(request, 400);
        }
    }

    private void json(HttpServerRequest request) {
        request.body().onSuccess(body -> {
            try {
                var person = new JsonObject(body);
                request.response()
                    .putHeader(CONTENT_TYPE, "application/json")
                    .end(person.toBuffer());
            } catch (DecodeException broken) {
                refuse(request, 400);
            }
        });
    }

    private void fibonacci(HttpServerRequest request) {
        try {
            int n = Integer.parseUnsignedInt(request.path().substring(FIBONACCI.length()));
            text(request, Buffer.buffer(fibonacciNumber(n).toString()));
        } catch (NumberFormatException notANumber) {
            refuse(request, 404);
        }
    }

    /** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
    private static void countDecodedBytes(HttpServerRequest request, MultiMap arguments) {
        int decodedBytes = 0;
        for (var argument : arguments) {
            decodedBytes += argument.getValue().getBytes(UTF_8).length;
        }
        request.response().putHeader("decoded-bytes", String.valueOf(decodedBytes));
        text(request, BODY_2048);
    }

    private static void text(HttpServerRequest request, Buffer body) {
        request.response().putHeader(CONTENT_TYPE, TEXT).end(body);
    }

    private static void refuse(HttpServerRequest request, int status) {
        if (!request.response().ended()) {
            request.response().setStatusCode(status).end();
        }
    }

    /** F(n) by n - 1 additions; F(0) = 0, F(1) = 1. */
    private static BigInteger fibonacciNumber(int n) {
        if (n == 0) {
            return BigInteger.ZERO;
        }
        var previous = BigInteger.ZERO;
        var current = BigInteger.ONE;
        for (int i = 1; i < n; i++) {
            var next = previous.add(current);
            previous = current;
            current = next;
        }
        return current;
    }
}
