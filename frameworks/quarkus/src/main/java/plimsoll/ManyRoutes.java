package plimsoll;

import static io.vertx.core.http.HttpHeaders.CONTENT_TYPE;

import io.vertx.core.Vertx;
import io.vertx.ext.web.Router;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;

/**
 * Routes that are registered one by one, in the router of Vert.x below Quarkus REST, whose own are
 * all known when the application is built. It tries one after another, so they have a router of their own.
 */
@ApplicationScoped
public class ManyRoutes {

    private static final int ROUTES = 1000;

    void addTo(@Observes Router router, Vertx vertx) {
        router.route("/r/*").subRouter(manyRoutes(vertx));
    }

    private static Router manyRoutes(Vertx vertx) {
        var router = Router.router(vertx);
        for (int k = 0; k < ROUTES; k++) {
            var name = k + ":";
            router.get("/" + k + "/x/:id").handler(context -> context.response()
                .putHeader(CONTENT_TYPE, "text/plain")
                .end(name + context.pathParam("id")));
        }
        return router;
    }
}
