package plimsoll;

import io.micronaut.core.async.annotation.SingleResult;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Error;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Status;
import io.micronaut.http.client.exceptions.HttpClientException;
import io.micronaut.http.exceptions.HttpStatusException;
import io.micronaut.serde.annotation.Serdeable;
import reactor.core.publisher.Mono;

@Controller
public class UpstreamController {

    @Serdeable
    public record Doubled(long id, long doubled) {}

    private final Upstream upstream;

    UpstreamController(Upstream upstream) {
        this.upstream = upstream;
    }

    /** Twice what another service says. */
    @Get("/up/{id}")
    @SingleResult
    Mono<Doubled> doubled(long id) {
        return upstream.value(id)
            .map(UpstreamController::value)
            .map(value -> new Doubled(id, 2 * value));
    }

    private static long value(HttpResponse<Upstream.Value> response) {
        if (response.status() != HttpStatus.OK) {
            throw new HttpStatusException(HttpStatus.BAD_GATEWAY, "the upstream's status is " + response.code());
        }
        return response.body().value();
    }

    @Error(HttpClientException.class)
    @Status(HttpStatus.BAD_GATEWAY)
    void badGateway() {}
}
