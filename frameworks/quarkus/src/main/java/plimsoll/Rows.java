package plimsoll;

import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Pool;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.stream.StreamSupport;

/** The tables of the database. */
@ApplicationScoped
public class Rows {

    private static final int ROWS = 10_000;

    private static final String WORLD = "SELECT id, random_number FROM world WHERE id = $1";
    private static final String FORTUNES = "SELECT id, message FROM fortune";
    private static final String WORLDS =
        "SELECT id FROM world WHERE id = ANY($1) ORDER BY id FOR UPDATE";
    private static final String UPDATE =
        "UPDATE world SET random_number = new.number"
            + " FROM unnest($1::int[], $2::int[]) AS new(id, number) WHERE world.id = new.id";

    public record World(int id, int randomNumber) {}

    public record Fortune(int id, String message) {}

    private final Pool pool;

    Rows(Pool pool) {
        this.pool = pool;
    }

    /** The row with this id; null if there is none. */
    Uni<World> world(int id) {
        return pool.preparedQuery(WORLD)
            .execute(Tuple.of(id))
            .map(found -> each(found, row -> new World(row.getInteger(0), row.getInteger(1))))
            .map(found -> found.isEmpty() ? null : found.get(0));
    }

    Uni<List<Fortune>> fortunes() {
        return pool.preparedQuery(FORTUNES)
            .execute()
            .map(found -> each(found, row -> new Fortune(row.getInteger(0), row.getString(1))));
    }

    /**
     * Reads rows, gives each a new number, and writes them. They are locked in the order of their
     * ids, so that transactions wait for each other and never in a circle.
     */
    Uni<List<World>> update(int count) {
        return pool.withTransaction(connection -> connection.preparedQuery(WORLDS)
            .execute(Tuple.of(differentIds(count)))
            .map(found -> each(found, row -> new World(row.getInteger(0), drawn())))
            .call(worlds -> write(connection, worlds)));
    }

    private static Uni<?> write(SqlConnection connection, List<World> worlds) {
        var ids = worlds.stream().map(World::id).toArray(Integer[]::new);
        var numbers = worlds.stream().map(World::randomNumber).toArray(Integer[]::new);
        return connection.preparedQuery(UPDATE).execute(Tuple.of(ids, numbers));
    }

    private static <T> List<T> each(RowSet<Row> rows, Function<Row, T> read) {
        return StreamSupport.stream(rows.spliterator(), false).map(read).toList();
    }

    private static Integer[] differentIds(int count) {
        return ThreadLocalRandom.current().ints(1, ROWS + 1)
            .distinct()
            .limit(count)
            .boxed()
            .toArray(Integer[]::new);
    }

    private static int drawn() {
        return ThreadLocalRandom.current().nextInt(ROWS) + 1;
    }
}
