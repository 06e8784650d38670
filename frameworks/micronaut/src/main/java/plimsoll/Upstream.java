package plimsoll;

import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.client.annotation.Client;
import io.micronaut.serde.annotation.Serdeable;
import reactor.core.publisher.Mono;

/** Another service. */
@Client("${upstream.url}")
interface Upstream {

    @Serdeable
    record Value(long id, long value) {}

    @Get("/value/{id}")
    Mono<HttpResponse<Value>> value(long id);
}
