package plimsoll

import com.zaxxer.hikari.HikariDataSource
import io.ktor.server.html.respondHtml
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.NotFoundException
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.withContext
import kotlinx.html.HTML
import kotlinx.html.body
import kotlinx.html.head
import kotlinx.html.table
import kotlinx.html.td
import kotlinx.html.th
import kotlinx.html.title
import kotlinx.html.tr
import kotlinx.serialization.Serializable
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

@Serializable
data class World(val id: Int, val randomNumber: Int)

data class Fortune(val id: Int, val message: String)

/** What needs PostgreSQL: rows by JDBC, whose calls wait in threads made for that. */
fun Route.database(environment: Map<String, String>) {
    val source by lazy { source(environment) }

    get("/db/{id}") {
        val id = number("id")
        val found = source.query { world(id) } ?: throw NotFoundException()
        call.respond(found)
    }
    get("/fortunes") {
        val found = source.query { fortunes() } + Fortune(0, ADDED)
        call.respondHtml { page(found.sortedBy { it.message }) }
    }
    post("/updates/{count}") {
        val count = number("count")
        if (count !in 1..MOST_UPDATES) throw BadRequestException("there are 1 to 500 updates")
        call.respond(source.query { update(count) })
    }
}

/** HikariCP's own number of connections, ten. */
private fun source(environment: Map<String, String>): DataSource = HikariDataSource().apply {
    val host = environment.getValue("PGHOST")
    val port = environment.getValue("PGPORT")
    jdbcUrl = "jdbc:postgresql://$host:$port/${environment.getValue("PGDATABASE")}"
    username = environment["PGUSER"]
    password = environment["PGPASSWORD"]
}

private suspend fun <T> DataSource.query(read: Connection.() -> T): T =
    withContext(Dispatchers.IO) { connection.use(read) }

private fun Connection.world(id: Int): World? = prepareStatement(WORLD).use { statement ->
    statement.setInt(1, id)
    statement.executeQuery().map { World(getInt(1), getInt(2)) }.firstOrNull()
}

private fun Connection.fortunes(): List<Fortune> = prepareStatement(FORTUNES).use { statement ->
    statement.executeQuery().map { Fortune(getInt(1), getString(2)) }
}

/**
 * Reads rows, gives each a new number, and writes them. They are locked in the order of their ids,
 * so that transactions wait for each other and never in a circle.
 */
private fun Connection.update(count: Int): List<World> {
    autoCommit = false
    val worlds = prepareStatement(WORLDS).use { statement ->
        statement.setArray(1, integers(differentIds(count)))
        statement.executeQuery().map { World(getInt(1), drawn()) }
    }
    prepareStatement(UPDATE).use { statement ->
        statement.setArray(1, integers(worlds.map { it.id }))
        statement.setArray(2, integers(worlds.map { it.randomNumber }))
        statement.executeUpdate()
    }
    commit()
    return worlds
}

private fun Connection.integers(values: Collection<Int>): java.sql.Array =
    createArrayOf("int4", values.toTypedArray())

private fun HTML.page(fortunes: List<Fortune>) {
    head { title("Fortunes") }
    body {
        table {
            tr {
                th { +"id" }
                th { +"message" }
            }
            for (fortune in fortunes) {
                tr {
                    td { +fortune.id.toString() }
                    td { +fortune.message }
                }
            }
        }
    }
}

private fun <T> ResultSet.map(row: ResultSet.() -> T): List<T> =
    use { generateSequence { if (next()) row() else null }.toList() }

private fun differentIds(count: Int): Set<Int> =
    buildSet { while (size < count) add(drawn()) }

private fun drawn(): Int = ThreadLocalRandom.current().nextInt(ROWS) + 1
