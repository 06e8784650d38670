package plimsoll;

import static jakarta.ws.rs.core.HttpHeaders.AUTHORIZATION;
import static jakarta.ws.rs.core.MediaType.APPLICATION_OCTET_STREAM;
import static jakarta.ws.rs.core.MediaType.SERVER_SENT_EVENTS;
import static jakarta.ws.rs.core.MediaType.TEXT_PLAIN;

import com.fasterxml.jackson.databind.JsonNode;
import io.smallrye.common.annotation.NonBlocking;
import io.smallrye.jwt.auth.principal.JWTParser;
import io.smallrye.jwt.auth.principal.ParseException;
import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.BadRequestException;
import jakarta.ws.rs.Consumes;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.NotAuthorizedException;
import jakarta.ws.rs.NotFoundException;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.ServerErrorException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.util.zip.CRC32;
import java.util.zip.CheckedInputStream;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.eclipse.microprofile.rest.client.inject.RestClient;
import org.jboss.resteasy.reactive.ResponseHeader;
import org.jboss.resteasy.reactive.RestHeader;
import org.jboss.resteasy.reactive.RestStreamElementType;

/** What web applications do besides: tokens, large bodies, events, calls of another service. */
@Path("")
public class WebResource {

    private static final int MOST_EVENTS = 100;
    private static final Duration EVENT_INTERVAL = Duration.ofMillis(10);
    private static final int BAD_GATEWAY = 502;
    private static final String CHALLENGE = "Bearer";
    private static final String SCHEME = CHALLENGE + " ";

    public record Doubled(long id, long doubled) {}

    private final Upstream upstream;
    private final JWTParser tokens;
    private final String key;

    WebResource(
        @RestClient Upstream upstream,
        JWTParser tokens,
        @ConfigProperty(name = "AUTH_KEY", defaultValue = "none") String key) {
        this.upstream = upstream;
        this.tokens = tokens;
        this.key = key;
    }

    /** The CRC-32 of a body, which is never in memory as a whole. */
    @POST
    @Path("upload")
    @Consumes(APPLICATION_OCTET_STREAM)
    @Produces(TEXT_PLAIN)
    public String upload(InputStream body) throws IOException {
        var checked = new CheckedInputStream(body, new CRC32());
        checked.transferTo(OutputStream.nullOutputStream());
        return Long.toString(checked.getChecksum().getValue());
    }

    /** The sum of all members named {@code value}. */
    @POST
    @Path("json-in")
    @Produces(TEXT_PLAIN)
    public String sumOfValues(JsonNode document) {
        if (document == null) {
            throw new BadRequestException("there is no body");
        }
        long sum = document.findValues("value").stream().mapToLong(JsonNode::longValue).sum();
        return Long.toString(sum);
    }

    /** The subject of a valid token. */
    @GET
    @Path("auth")
    @Produces(TEXT_PLAIN)
    @NonBlocking
    public String subject(@RestHeader(AUTHORIZATION) String authorization) {
        if (authorization == null || !authorization.startsWith(SCHEME)) {
            throw new NotAuthorizedException(CHALLENGE);
        }
        try {
            return tokens.verify(authorization.substring(SCHEME.length()), key).getSubject();
        } catch (ParseException invalid) {
            throw new NotAuthorizedException(invalid, CHALLENGE);
        }
    }

    /** Events, the first at once and each other when it is due. */
    @GET
    @Path("stream/{count}")
    @Produces(SERVER_SENT_EVENTS)
    @RestStreamElementType(TEXT_PLAIN)
    @ResponseHeader(name = "Cache-Control", value = "no-cache")
    public Multi<Long> stream(int count) {
        if (count < 1 || count > MOST_EVENTS) {
            throw new NotFoundException();
        }
        return Multi.createFrom().ticks().every(EVENT_INTERVAL).select().first(count);
    }

    /** Twice what another service says. */
    @GET
    @Path("up/{id}")
    public Uni<Doubled> doubled(int id) {
        return upstream.value(id)
            .map(found -> new Doubled(id, 2 * found.value()))
            .onFailure().transform(cause -> new ServerErrorException(BAD_GATEWAY, cause));
    }
}
