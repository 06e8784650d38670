package plimsoll;

import static jakarta.ws.rs.core.MediaType.APPLICATION_FORM_URLENCODED;
import static jakarta.ws.rs.core.MediaType.MULTIPART_FORM_DATA;
import static jakarta.ws.rs.core.MediaType.TEXT_PLAIN;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.smallrye.common.annotation.NonBlocking;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.MultivaluedMap;
import jakarta.ws.rs.core.UriInfo;
import java.math.BigInteger;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import org.jboss.resteasy.reactive.RestResponse;
import org.jboss.resteasy.reactive.server.multipart.FormValue;
import org.jboss.resteasy.reactive.server.multipart.MultipartFormDataInput;

/**
 * What never waits is answered by the event loop that read the request ({@code @NonBlocking}); all
 * else by a thread of the worker pool, Quarkus's default for methods that return a plain value.
 */
@Path("")
@Produces(TEXT_PLAIN)
public class ContractResource {

    private static final byte[] HELLO_WORLD = "Hello, World!".getBytes(UTF_8);
    private static final byte[] BODY_2048 = "A".repeat(2048).getBytes(UTF_8);
    private static final byte[] BODY_8192 = "A".repeat(8192).getBytes(UTF_8);
    private static final byte[] BODY_32768 = "A".repeat(32768).getBytes(UTF_8);

    public record Person(long id, String firstName, String lastName) {}

    @GET
    @Path("empty")
    @NonBlocking
    public RestResponse<Void> empty() {
        return RestResponse.ok();
    }

    @GET
    @Path("plaintext")
    @NonBlocking
    public byte[] plaintext() {
        return HELLO_WORLD;
    }

    @GET
    @Path("2048")
    @NonBlocking
    public byte[] body2048() {
        return BODY_2048;
    }

    @GET
    @Path("8192")
    @NonBlocking
    public byte[] body8192() {
        return BODY_8192;
    }

    @GET
    @Path("32768")
    @NonBlocking
    public byte[] body32768() {
        return BODY_32768;
    }

    @GET
    @Path("getArgs2048")
    @NonBlocking
    public RestResponse<byte[]> queryArguments(UriInfo uri) {
        return countedDecodedBytes(values(uri.getQueryParameters()));
    }

    @POST
    @Path("postArgs2048")
    @Consumes(APPLICATION_FORM_URLENCODED)
    @NonBlocking
    public RestResponse<byte[]> form(MultivaluedMap<String, String> form) {
        return countedDecodedBytes(values(form));
    }

    @POST
    @Path("postArgsMulti2048")
    @Consumes(MULTIPART_FORM_DATA)
    public RestResponse<byte[]> multipartForm(MultipartFormDataInput form) {
        return countedDecodedBytes(form.getValues().values().stream()
            .flatMap(Collection::stream)
            .map(FormValue::getValue));
    }

    /** The CRC-32 of the values by rising name, each followed by a line feed. */
    @GET
    @Path("args")
    @NonBlocking
    public String checksum(UriInfo uri) {
        var crc = new CRC32();
        values(new TreeMap<>(uri.getQueryParameters()))
            .forEach(value -> crc.update((value + "\n").getBytes(UTF_8)));
        return Long.toString(crc.getValue());
    }

    @POST
    @Path("json")
    @Produces("application/json")
    @NonBlocking
    public Person json(Person person) {
        if (person == null) {
            throw new BadRequestException("there is no body");
        }
        return person;
    }

    @GET
    @Path("fibonacci/{n:\\d+}")
    public String fibonacci(int n) {
        return fibonacciNumber(n).toString();
    }

    private static Stream<String> values(Map<String, List<String>> arguments) {
        return arguments.values().stream().flatMap(Collection::stream);
    }

    /** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
    private static RestResponse<byte[]> countedDecodedBytes(Stream<String> values) {
        int decodedBytes = values.mapToInt(value -> value.getBytes(UTF_8).length).sum();
        return RestResponse.ResponseBuilder.ok(BODY_2048)
            .header("decoded-bytes", decodedBytes)
            .build();
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
