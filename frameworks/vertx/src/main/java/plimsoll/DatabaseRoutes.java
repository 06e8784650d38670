package plimsoll;

import static io.vertx.core.http.HttpHeaders.CONTENT_TYPE;

import com.github.jknack.handlebars.Handlebars;
import com.github.jknack.handlebars.Template;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import io.vertx.pgclient.PgBuilder;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;

/** What needs PostgreSQL: rows by the reactive client of Vert.x, pages by Handlebars. */
class DatabaseRoutes {

    private static final int ROWS = 10_000;
    private static final int MOST_UPDATES = 500;
    private static final String WORLD = "SELECT id, random_number FROM world WHERE id = $1";
    private static final String FORTUNES = "SELECT id, message FROM fortune";
    private static final String WORLDS =
        "SELECT id FROM world WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    private static final String UPDATE =
        "UPDATE world SET random_number = new.number"
            + " FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id";

    private record Fortune(int id, String message) {

        static Fortune of(Row row) {
            return new Fortune(row.getInteger("id"), row.getString("message"));
        }
    }

    private static final Fortune ADDED = new Fortune(0, "This sentence was added when the request came.");

    private final Pool pool;
    private final Template page;

    /** With a pool of up to four connections, Vert.x's own number, opened as they are needed. */
    DatabaseRoutes(Vertx vertx) {
        var address = System.getenv().getOrDefault("DATABASE_URL", "postgresql://127.0.0.1/none");
        pool = PgBuilder.pool()
            .connectingTo(PgConnectOptions.fromUri(address).setCachePreparedStatements(true))
            .using(vertx)
            .build();
        try {
            page = new Handlebars().compile("fortunes");
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    void addTo(Router router) {
        router.get("/db/:id").handler(this::world);
        router.get("/fortunes").handler(this::fortunes);
        router.post("/updates/:count").handler(this::updates);
    }

    private void world(RoutingContext context) {
        int id = Parameters.number(context, "id");
        pool.preparedQuery(WORLD)
            .execute(Tuple.of(id))
            .onFailure(context::fail)
            .onSuccess(rows -> {
                if (rows.size() == 0) {
                    context.fail(404);
                    return;
                }
                var row = rows.iterator().next();
                context.json(world(row.getInteger("id"), row.getInteger("random_number")));
            });
    }

    private void fortunes(RoutingContext context) {
        pool.preparedQuery(FORTUNES)
            .execute()
            .map(rows -> Stream.concat(rows.stream().map(Fortune::of), Stream.of(ADDED)))
            .map(found -> page(found.sorted(Comparator.comparing(Fortune::message)).toList()))
            .onFailure(context::fail)
            .onSuccess(body -> context.response()
                .putHeader(CONTENT_TYPE, "text/html; charset=utf-8")
                .end(body));
    }

    private String page(List<Fortune> fortunes) {
        try {
            return page.apply(fortunes);
        } catch (IOException impossible) {
            throw new UncheckedIOException(impossible);
        }
    }

    private void updates(RoutingContext context) {
        int count = Parameters.number(context, "count");
        if (count < 1 || count > MOST_UPDATES) {
            context.fail(400);
            return;
        }
        pool.withTransaction(connection -> update(connection, count))
            .onFailure(context::fail)
            .onSuccess(context::json);
    }

    /**
     * Reads rows, gives each a new number, and writes them. They are locked in the order of their
     * ids, so that transactions wait for each other and never in a circle.
     */
    private static Future<JsonArray> update(SqlConnection connection, int count) {
        var numbers = ThreadLocalRandom.current().ints(count, 1, ROWS + 1).boxed().toArray(Integer[]::new);
        return connection.preparedQuery(WORLDS)
            .execute(Tuple.tuple().addArrayOfInteger(differentIds(count)))
            .compose(rows -> {
                var ids = new ArrayList<Integer>(count);
                rows.forEach(row -> ids.add(row.getInteger("id")));
                var written = Tuple.tuple()
                    .addArrayOfInteger(ids.toArray(Integer[]::new))
                    .addArrayOfInteger(numbers);
                return connection.preparedQuery(UPDATE).execute(written).map(done -> worlds(ids, numbers));
            });
    }

    private static JsonArray worlds(List<Integer> ids, Integer[] numbers) {
        var worlds = new JsonArray();
        for (int i = 0; i < numbers.length; i++) {
            worlds.add(world(ids.get(i), numbers[i]));
        }
        return worlds;
    }

    private static JsonObject world(int id, int randomNumber) {
        return new JsonObject().put("id", id).put("randomNumber", randomNumber);
    }

    private static Integer[] differentIds(int count) {
        return ThreadLocalRandom.current()
            .ints(1, ROWS + 1)
            .distinct()
            .limit(count)
            .boxed()
            .toArray(Integer[]::new);
    }
}
