package plimsoll;

import static io.micronaut.http.MediaType.APPLICATION_FORM_URLENCODED;
import static io.micronaut.http.MediaType.MULTIPART_FORM_DATA;
import static io.micronaut.http.MediaType.TEXT_PLAIN;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.micronaut.core.async.annotation.SingleResult;
import io.micronaut.http.HttpParameters;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.multipart.CompletedPart;
import io.micronaut.http.server.multipart.MultipartBody;
import io.micronaut.serde.annotation.Serdeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigInteger;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@Controller
public class ContractController {

    private static final byte[] HELLO_WORLD = "Hello, World!".getBytes(UTF_8);
    private static final byte[] BODY_2048 = "A".repeat(2048).getBytes(UTF_8);
    private static final byte[] BODY_8192 = "A".repeat(8192).getBytes(UTF_8);
    private static final byte[] BODY_32768 = "A".repeat(32768).getBytes(UTF_8);

    @Serdeable
    public record Person(long id, String firstName, String lastName) {}

    @Get("/empty")
    HttpResponse<?> empty() {
        return HttpResponse.ok();
    }

    @Get(value = "/plaintext", produces = TEXT_PLAIN)
    byte[] plaintext() {
        return HELLO_WORLD;
    }

    @Get(value = "/2048", produces = TEXT_PLAIN)
    byte[] body2048() {
        return BODY_2048;
    }

    @Get(value = "/8192", produces = TEXT_PLAIN)
    byte[] body8192() {
        return BODY_8192;
    }

    @Get(value = "/32768", produces = TEXT_PLAIN)
    byte[] body32768() {
        return BODY_32768;
    }

    @Get(value = "/getArgs2048", produces = TEXT_PLAIN)
    HttpResponse<byte[]> queryArgs(HttpParameters arguments) {
        int decodedBytes = 0;
        for (var name : arguments.names()) {
            decodedBytes += arguments.get(name).getBytes(UTF_8).length;
        }
        return withDecodedBytes(decodedBytes);
    }

    @Post(value = "/postArgs2048", consumes = APPLICATION_FORM_URLENCODED, produces = TEXT_PLAIN)
    HttpResponse<byte[]> formArgs(@Body Map<String, String> arguments) {
        int decodedBytes = 0;
        for (var value : arguments.values()) {
            decodedBytes += value.getBytes(UTF_8).length;
        }
        return withDecodedBytes(decodedBytes);
    }

    @Post(value = "/postArgsMulti2048", consumes = MULTIPART_FORM_DATA, produces = TEXT_PLAIN)
    @SingleResult
    Mono<HttpResponse<byte[]>> multipartArgs(@Body MultipartBody parts) {
        return Flux.from(parts)
            .map(ContractController::decodedBytes)
            .reduce(0, Integer::sum)
            .map(ContractController::withDecodedBytes);
    }

    /** The CRC-32 of the values by rising name, each followed by a line feed. */
    @Get(value = "/args", produces = TEXT_PLAIN)
    String checksum(HttpParameters arguments) {
        var crc = new CRC32();
        for (var name : new TreeMap<>(arguments.asMap(String.class, String.class)).values()) {
            crc.update((name + "\n").getBytes(UTF_8));
        }
        return Long.toString(crc.getValue());
    }

    @Post("/json")
    Person json(@Body Person person) {
        return person;
    }

    @Get(value = "/fibonacci/{n:[0-9]+}", produces = TEXT_PLAIN)
    String fibonacci(int n) {
        return fibonacciNumber(n).toString();
    }

    private static int decodedBytes(CompletedPart part) {
        try {
            return new String(part.getBytes(), UTF_8).getBytes(UTF_8).length;
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    /** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
    private static HttpResponse<byte[]> withDecodedBytes(int decodedBytes) {
        return HttpResponse.ok(BODY_2048).header("decoded-bytes", Integer.toString(decodedBytes));
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
