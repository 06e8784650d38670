package plimsoll;

import static io.vertx.core.http.HttpHeaders.CACHE_CONTROL;
import static io.vertx.core.http.HttpHeaders.CONTENT_TYPE;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.auth.PubSecKeyOptions;
import io.vertx.ext.auth.jwt.JWTAuth;
import io.vertx.ext.auth.jwt.JWTAuthOptions;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.client.WebClient;
import io.vertx.ext.web.client.WebClientOptions;
import io.vertx.ext.web.codec.BodyCodec;
import io.vertx.ext.web.handler.JWTAuthHandler;
import java.util.PrimitiveIterator;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/** What web applications do besides: many routes, tokens, large bodies, calls of another service. */
class WebRoutes {

    private static final int ROUTES = 1000;
    private static final int MOST_EVENTS = 100;
    private static final long EVENT_INTERVAL_MS = 10;

    /** One for each connection of a load that is common; Vert.x's own number is 5. */
    private static final int UPSTREAM_CONNECTIONS = 1024;

    private final Vertx vertx;
    private final WebClient client;
    private final String upstream = System.getenv("UPSTREAM_URL");
    private JsonArray records;

    WebRoutes(Vertx vertx) {
        this.vertx = vertx;
        client = WebClient.create(vertx, new WebClientOptions(), new PoolOptions().setHttp1MaxSize(UPSTREAM_CONNECTIONS));
    }

    /** Routes are tried one after another, so the many ones are in a router of their own. */
    void addTo(Router router) {
        router.post("/upload").handler(this::upload);
        router.post("/json-in").handler(this::sumOfValues);
        router.get("/stream/:count").handler(this::stream);
        router.get("/up/:id").handler(this::doubled);
        var files = System.getenv("FILES");
        if (files != null) {
            records = new JsonArray(vertx.fileSystem().readFileBlocking(files + "/items.json"));
            router.get("/items/:count").handler(this::items);
        }
        var key = System.getenv("AUTH_KEY");
        if (key != null) {
            router.get("/auth").handler(tokens(key)).handler(this::subject);
        }
        router.route("/r/*").subRouter(manyRoutes());
    }

    private Router manyRoutes() {
        var router = Router.router(vertx);
        for (int k = 0; k < ROUTES; k++) {
            var name = k + ":";
            router.get("/" + k + "/x/:id").handler(context -> text(context, name + context.pathParam("id")));
        }
        return router;
    }

    private JWTAuthHandler tokens(String key) {
        var secret = new PubSecKeyOptions().setAlgorithm("HS256").setBuffer(key);
        return JWTAuthHandler.create(JWTAuth.create(vertx, new JWTAuthOptions().addPubSecKey(secret)));
    }

    /** The subject of a valid token. Vert.x also takes one without an end. */
    private void subject(RoutingContext context) {
        var user = context.user();
        if (user.containsKey("exp")) {
            text(context, user.subject());
        } else {
            context.fail(401);
        }
    }

    /** The first records, each with its total. */
    private void items(RoutingContext context) {
        int count = Parameters.number(context, "count");
        if (count < 1 || count > records.size()) {
            context.fail(404);
            return;
        }
        long factor = Long.parseLong(context.request().getParam("m"));
        var found = new JsonArray();
        for (int i = 0; i < count; i++) {
            var item = records.getJsonObject(i).copy();
            found.add(item.put("total", item.getLong("price") * item.getLong("quantity") * factor));
        }
        context.json(new JsonObject().put("count", count).put("items", found));
    }

    /** The CRC-32 of a body, which is never in memory as a whole. */
    private void upload(RoutingContext context) {
        var crc = new CRC32();
        context.request()
            .handler(piece -> crc.update(piece.getBytes()))
            .endHandler(end -> text(context, Long.toString(crc.getValue())));
    }

    private void sumOfValues(RoutingContext context) {
        context.request().body().onFailure(context::fail).onSuccess(body -> {
            try {
                text(context, Long.toString(sum(Json.decodeValue(body))));
            } catch (DecodeException broken) {
                context.fail(400, broken);
            }
        });
    }

    /** The sum of all members named {@code value}. */
    private static long sum(Object document) {
        long sum = 0;
        if (document instanceof JsonObject object) {
            for (var member : object) {
                sum += member.getKey().equals("value") && member.getValue() instanceof Number number
                    ? number.longValue()
                    : sum(member.getValue());
            }
        } else if (document instanceof JsonArray array) {
            for (var element : array) {
                sum += sum(element);
            }
        }
        return sum;
    }

    /** Events, each sent when it is due. */
    private void stream(RoutingContext context) {
        int count = Parameters.number(context, "count");
        if (count < 1 || count > MOST_EVENTS) {
            context.fail(404);
            return;
        }
        var response = context.response()
            .setChunked(true)
            .putHeader(CONTENT_TYPE, "text/event-stream")
            .putHeader(CACHE_CONTROL, "no-cache");
        var numbers = IntStream.range(0, count).iterator();
        long timer = vertx.setPeriodic(EVENT_INTERVAL_MS, due -> sendNext(response, numbers));
        response.endHandler(end -> vertx.cancelTimer(timer));
        sendNext(response, numbers);
    }

    private static void sendNext(HttpServerResponse response, PrimitiveIterator.OfInt numbers) {
        response.write("data: " + numbers.nextInt() + "\n\n");
        if (!numbers.hasNext()) {
            response.end();
        }
    }

    /** Twice what another service says. */
    private void doubled(RoutingContext context) {
        int id = Parameters.number(context, "id");
        client.getAbs(upstream + "/value/" + id)
            .as(BodyCodec.jsonObject())
            .send()
            .onFailure(cause -> context.fail(502, cause))
            .onSuccess(response -> {
                if (response.statusCode() == 200) {
                    long value = response.body().getLong("value");
                    context.json(new JsonObject().put("id", id).put("doubled", 2 * value));
                } else {
                    context.fail(502);
                }
            });
    }

    private static void text(RoutingContext context, String body) {
        context.response().putHeader(CONTENT_TYPE, "text/plain").end(body);
    }
}
