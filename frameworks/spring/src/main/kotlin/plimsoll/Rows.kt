package plimsoll

import org.springframework.jdbc.core.SimplePropertyRowMapper
import org.springframework.jdbc.core.simple.JdbcClient
import org.springframework.stereotype.Repository
import org.springframework.transaction.annotation.Transactional
import java.util.Optional
import java.util.concurrent.ThreadLocalRandom

private const val ROWS = 10_000
private const val UPDATE =
    "UPDATE world SET random_number = new.number" +
        " FROM unnest(?, ?) AS new(id, number) WHERE world.id = new.id"

data class World(val id: Int, val randomNumber: Int)

data class Fortune(val id: Int, val message: String)

private val WORLD = SimplePropertyRowMapper(World::class.java)
private val FORTUNE = SimplePropertyRowMapper(Fortune::class.java)

/** The tables of the database. */
@Repository
class Rows(private val client: JdbcClient) {

    fun world(id: Int): Optional<World> =
        client.sql("SELECT id, random_number FROM world WHERE id = ?")
            .param(id)
            .query(WORLD)
            .optional()

    fun fortunes(): List<Fortune> =
        client.sql("SELECT id, message FROM fortune").query(FORTUNE).list()

    /**
     * Reads rows, gives each a new number, and writes them. They are locked in the order of their
     * ids, so that transactions wait for each other and never in a circle.
     */
    @Transactional
    fun update(count: Int): List<World> {
        val worlds =
            client.sql("SELECT id, random_number FROM world WHERE id IN (:ids) ORDER BY id FOR UPDATE")
                .param("ids", differentIds(count))
                .query(WORLD)
                .list()
                .map { it.copy(randomNumber = drawn()) }
        client.sql(UPDATE)
            .param(worlds.map { it.id }.toTypedArray())
            .param(worlds.map { it.randomNumber }.toTypedArray())
            .update()
        return worlds
    }
}

private fun differentIds(count: Int): Set<Int> =
    buildSet { while (size < count) add(drawn()) }

private fun drawn(): Int = ThreadLocalRandom.current().nextInt(ROWS) + 1
