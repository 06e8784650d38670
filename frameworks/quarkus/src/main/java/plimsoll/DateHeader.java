package plimsoll;

import static io.vertx.core.http.HttpHeaders.DATE;
import static java.time.ZoneOffset.UTC;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpHeaders;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.time.Instant;
import java.time.format.DateTimeFormatter;
import java.util.Locale;

/** Adds a date to every response, since Quarkus sends none; it is written anew once a second. */
@ApplicationScoped
public class DateHeader {

    private static final int PRIORITY = 100;
    private static final long SECOND_MS = 1000;
    private static final DateTimeFormatter HTTP_DATE =
        DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).withZone(UTC);

    private volatile CharSequence date;

    void addTo(@Observes Filters filters, Vertx vertx) {
        setDate();
        vertx.setPeriodic(SECOND_MS, timer -> setDate());
        filters.register(context -> {
            context.response().putHeader(DATE, date);
            context.next();
        }, PRIORITY);
    }

    private void setDate() {
        date = HttpHeaders.createOptimized(HTTP_DATE.format(Instant.now()));
    }
}
