package plimsoll

import com.github.jknack.handlebars.Handlebars
import com.zaxxer.hikari.HikariDataSource
import io.helidon.http.BadRequestException
import io.helidon.http.HeaderNames.CONTENT_TYPE
import io.helidon.http.NotFoundException
import io.helidon.webserver.http.Handler
import io.helidon.webserver.http.HttpRules
import io.helidon.webserver.http.HttpService
import io.helidon.webserver.http.ServerRequest
import io.helidon.webserver.http.ServerResponse
import java.sql.Connection
import java.sql.ResultSet
import java.util.concurrent.ThreadLocalRandom
import javax.sql.DataSource

private const val ROWS = 10_000
private const val MOST_UPDATES = 500
private const val ADDED = "This sentence was added when the request came."

private const val WORLD = "SELECT id, random_number FROM world WHERE id = ?"
private const val FORTUNES = "SELECT id, message FROM fortune"
private const val WORLDS = "SELECT id FROM world WHERE id = ANY(?) ORDER BY id FOR UPDATE"
private const val UPDATE =
    "UPDATE world SET random_number = new.number" +
        " FROM unnest(?, ?) AS new(id, number) WHERE world.id = new.id"

data class World(val id: Int, val randomNumber: Int)

data class Fortune(val id: Int, val message: String)

/** What needs PostgreSQL: rows by JDBC, pages by Handlebars. */
class DatabaseService(environment: Map<String, String>) : HttpService {

    private val source = source(environment)
    private val page = Handlebars().compile("fortunes")

    override fun routing(rules: HttpRules) {
        rules
            .get("/db/{id}", Handler(::world))
            .get("/fortunes", Handler(::fortunes))
            .post("/updates/{count}", Handler(::updates))
    }

    private fun world(request: ServerRequest, response: ServerResponse) {
        val id = request.number("id")
        val found = source.connection.use { connection ->
            connection.prepareStatement(WORLD).use { statement ->
                statement.setInt(1, id)
                statement.executeQuery().map { World(getInt(1), getInt(2)) }
            }
        }
        response.send(found.firstOrNull() ?: throw NotFoundException("there is no such row"))
    }

    private fun fortunes(request: ServerRequest, response: ServerResponse) {
        val found = source.connection.use { connection ->
            connection.prepareStatement(FORTUNES).use { statement ->
                statement.executeQuery().map { Fortune(getInt(1), getString(2)) }
            }
        }
        response.header(CONTENT_TYPE, "text/html; charset=utf-8")
        response.send(page.apply((found + Fortune(0, ADDED)).sortedBy { it.message }))
    }

    private fun updates(request: ServerRequest, response: ServerResponse) {
        val count = request.number("count")
        if (count !in 1..MOST_UPDATES) throw BadRequestException("there are 1 to 500 updates")
        response.send(source.connection.use { update(it, count) })
    }
}

/** HikariCP's own number of connections, ten; it opens them when one is first asked for. */
private fun source(environment: Map<String, String>): DataSource {
    val host = environment.getOrDefault("PGHOST", "127.0.0.1")
    val port = environment.getOrDefault("PGPORT", "5432")
    val database = environment.getOrDefault("PGDATABASE", "none")
    return HikariDataSource().apply {
        jdbcUrl = "jdbc:postgresql://$host:$port/$database"
        username = environment["PGUSER"]
        password = environment["PGPASSWORD"]
    }
}

/**
 * Reads rows, gives each a new number, and writes them. They are locked in the order of their ids,
 * so that transactions wait for each other and never in a circle.
 */
private fun update(connection: Connection, count: Int): List<World> {
    connection.autoCommit = false
    val worlds = connection.prepareStatement(WORLDS).use { statement ->
        statement.setArray(1, connection.integers(differentIds(count)))
        statement.executeQuery().map { World(getInt(1), drawn()) }
    }
    connection.prepareStatement(UPDATE).use { statement ->
        statement.setArray(1, connection.integers(worlds.map { it.id }))
        statement.setArray(2, connection.integers(worlds.map { it.randomNumber }))
        statement.executeUpdate()
    }
    connection.commit()
    return worlds
}

private fun Connection.integers(values: Collection<Int>): java.sql.Array =
    createArrayOf("int4", values.toTypedArray())

private fun <T> ResultSet.map(row: ResultSet.() -> T): List<T> =
    use { generateSequence { if (next()) row() else null }.toList() }

private fun differentIds(count: Int): Set<Int> =
    buildSet { while (size < count) add(drawn()) }

private fun drawn(): Int = ThreadLocalRandom.current().nextInt(ROWS) + 1
