package plimsoll;

import static io.micronaut.http.MediaType.TEXT_EVENT_STREAM;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.sse.Event;
import java.time.Duration;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

@Controller
public class StreamController {

    private static final int MOST_EVENTS = 100;
    private static final Duration EVENT_INTERVAL = Duration.ofMillis(10);

    /** Events, each sent when it is due; those that the connection cannot take yet wait. */
    @Get(value = "/stream/{count}", produces = TEXT_EVENT_STREAM)
    HttpResponse<Publisher<Event<String>>> stream(int count) {
        if (count < 1 || count > MOST_EVENTS) {
            return HttpResponse.notFound();
        }
        Publisher<Event<String>> events = Flux.interval(Duration.ZERO, EVENT_INTERVAL)
            .take(count)
            .onBackpressureBuffer(MOST_EVENTS)
            .map(i -> Event.of(i.toString()));
        return HttpResponse.ok(events).header(HttpHeaders.CACHE_CONTROL, "no-cache");
    }
}
