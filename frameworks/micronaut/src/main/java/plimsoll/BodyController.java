package plimsoll;

import static io.micronaut.http.MediaType.APPLICATION_OCTET_STREAM;
import static io.micronaut.http.MediaType.TEXT_PLAIN;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.core.async.annotation.SingleResult;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Post;
import java.util.zip.CRC32;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@Controller
public class BodyController {

    /** The CRC-32 of a body, which is never in memory as a whole. */
    @Post(value = "/upload", consumes = APPLICATION_OCTET_STREAM, produces = TEXT_PLAIN)
    @SingleResult
    Mono<String> upload(@Body @Nullable Publisher<byte[]> body) {
        var crc = new CRC32();
        // There is no publisher for an empty body.
        return Flux.from(body == null ? Flux.empty() : body)
            .doOnNext(crc::update)
            .then(Mono.fromCallable(() -> Long.toString(crc.getValue())));
    }
}
