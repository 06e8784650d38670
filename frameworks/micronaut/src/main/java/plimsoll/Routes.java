package plimsoll;

import static io.micronaut.http.MediaType.TEXT_PLAIN_TYPE;

import io.micronaut.context.ExecutionHandleLocator;
import io.micronaut.context.annotation.Executable;
import io.micronaut.core.convert.ConversionService;
import io.micronaut.http.HttpRequest;
import io.micronaut.web.router.DefaultRouteBuilder;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;

/** Routes that are registered one by one. */
@Singleton
class Routes extends DefaultRouteBuilder {

    private static final int ROUTES = 1000;
    private static final String PREFIX = "/r/";

    Routes(ExecutionHandleLocator locator, UriNamingStrategy naming, ConversionService conversions) {
        super(locator, naming, conversions);
    }

    @Inject
    void register() {
        for (int k = 0; k < ROUTES; k++) {
            GET(PREFIX + k + "/x/{id}", Handler.class, "show", String.class, HttpRequest.class)
                .produces(TEXT_PLAIN_TYPE);
        }
    }

    @Singleton
    static class Handler {

        /** Micronaut's routes name a bean and a method; which of them it was is in the path. */
        @Executable
        String show(String id, HttpRequest<?> request) {
            var path = request.getPath();
            return path.substring(PREFIX.length(), path.indexOf('/', PREFIX.length())) + ":" + id;
        }
    }
}
