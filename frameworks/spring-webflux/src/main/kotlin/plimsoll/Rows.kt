package plimsoll

import org.springframework.r2dbc.core.DatabaseClient
import org.springframework.stereotype.Repository
import org.springframework.transaction.annotation.Transactional
import reactor.core.publisher.Flux
import reactor.core.publisher.Mono
import java.util.concurrent.ThreadLocalRandom

private const val ROWS = 10_000
private const val WORLDS =
    "SELECT id, random_number FROM world WHERE id = ANY(:ids) ORDER BY id FOR UPDATE"
private const val UPDATE =
    "UPDATE world SET random_number = new.number" +
        " FROM unnest(:ids, :numbers) AS new(id, number) WHERE world.id = new.id"

data class World(val id: Int, val randomNumber: Int)

data class Fortune(val id: Int, val message: String)

/** The tables of the database. */
@Repository
class Rows(private val client: DatabaseClient) {

    fun world(id: Int): Mono<World> =
        client.sql("SELECT id, random_number FROM world WHERE id = :id")
            .bind("id", id)
            .mapProperties(World::class.java)
            .one()

    fun fortunes(): Flux<Fortune> =
        client.sql("SELECT id, message FROM fortune").mapProperties(Fortune::class.java).all()

    /**
     * Reads rows, gives each a new number, and writes them. They are locked in the order of their
     * ids, so that transactions wait for each other and never in a circle.
     */
    @Transactional
    fun update(count: Int): Mono<List<World>> =
        client.sql(WORLDS)
            .bind("ids", differentIds(count).toTypedArray())
            .mapProperties(World::class.java)
            .all()
            .map { it.copy(randomNumber = drawn()) }
            .collectList()
            .flatMap(::written)

    private fun written(worlds: List<World>): Mono<List<World>> =
        client.sql(UPDATE)
            .bind("ids", worlds.map { it.id }.toTypedArray())
            .bind("numbers", worlds.map { it.randomNumber }.toTypedArray())
            .then()
            .thenReturn(worlds)
}

private fun differentIds(count: Int): Set<Int> =
    buildSet { while (size < count) add(drawn()) }

private fun drawn(): Int = ThreadLocalRandom.current().nextInt(ROWS) + 1
