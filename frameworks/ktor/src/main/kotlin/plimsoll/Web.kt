package plimsoll

import com.auth0.jwt.JWT
import com.auth0.jwt.algorithms.Algorithm
import io.ktor.client.HttpClient
import io.ktor.client.call.body
import io.ktor.client.engine.cio.CIO
import io.ktor.client.request.get
import io.ktor.http.ContentType
import io.ktor.http.HttpHeaders
import io.ktor.http.HttpStatusCode
import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.install
import io.ktor.server.auth.Authentication
import io.ktor.server.auth.authenticate
import io.ktor.server.auth.jwt.JWTPrincipal
import io.ktor.server.auth.jwt.jwt
import io.ktor.server.auth.principal
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.NotFoundException
import io.ktor.server.plugins.compression.Compression
import io.ktor.server.plugins.compression.gzip
import io.ktor.server.request.receive
import io.ktor.server.request.receiveChannel
import io.ktor.server.response.header
import io.ktor.server.response.respond
import io.ktor.server.response.respondBytesWriter
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.application
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import io.ktor.server.routing.route
import io.ktor.utils.io.ByteReadChannel
import io.ktor.utils.io.ByteWriteChannel
import io.ktor.utils.io.readAvailable
import io.ktor.utils.io.writeStringUtf8
import kotlinx.coroutines.delay
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.longOrNull
import java.io.File
import java.io.IOException
import java.util.zip.CRC32
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.TimeSource
import io.ktor.client.plugins.contentnegotiation.ContentNegotiation as ClientContentNegotiation

private const val ROUTES = 1000
private const val MOST_EVENTS = 100
private const val PIECE_BYTES = 64 * 1024
private val EVENT_INTERVAL = 10.milliseconds

/** One for each connection of a load that is common; CIO's own number is 100. */
private const val UPSTREAM_CONNECTIONS = 1024

@Serializable
data class Rating(val score: Double, val count: Int)

@Serializable
data class Item(
    val id: Int,
    val name: String,
    val category: String,
    val price: Long,
    val quantity: Long,
    val active: Boolean,
    val tags: List<String>,
    val rating: Rating,
    val total: Long = 0,
)

@Serializable
data class Items(val count: Int, val items: List<Item>)

@Serializable
data class UpstreamValue(val id: Long, val value: Long)

@Serializable
data class Doubled(val id: Long, val doubled: Long)

/** What web applications do besides: many routes, tokens, large bodies, calls of another service. */
fun Route.web(environment: Map<String, String>) {
    // Ktor looks through the routes of one level: only paths that begin like this pay for a thousand.
    route("/r") { manyRoutes() }
    post("/upload") { call.respondText(checksum(call.receiveChannel()).toString()) }
    post("/json-in") { call.respondText(sumOfValues(call.receive<JsonElement>()).toString()) }
    get("/stream/{count}") {
        val count = number("count")
        if (count !in 1..MOST_EVENTS) throw NotFoundException()
        call.response.header(HttpHeaders.CacheControl, "no-cache")
        call.respondBytesWriter(ContentType.Text.EventStream) { sendEvents(count) }
    }
    environment["FILES"]?.let { files -> route("/items") { items(File(files, "items.json")) } }
    environment["AUTH_KEY"]?.let { tokens(it) }
    environment["UPSTREAM_URL"]?.let { upstream(it) }
}

private fun Route.manyRoutes() {
    for (k in 0 until ROUTES) {
        get("/$k/x/{id}") { call.respondText("$k:${call.pathParameters["id"]}") }
    }
}

/** The first records, each with its total; compressed here and nowhere else. */
private fun Route.items(file: File) {
    val records = Json.decodeFromString<List<Item>>(file.readText())
    install(Compression) { gzip() }
    get("/{count}") {
        val count = number("count")
        if (count !in 1..records.size) throw NotFoundException()
        val factor = call.queryParameters["m"]?.toLongOrNull() ?: throw BadRequestException("no m")
        val found = records.take(count).map { it.copy(total = it.price * it.quantity * factor) }
        call.respond(Items(count, found))
    }
}

/** The subject of a valid token. */
private fun Route.tokens(key: String) {
    application.install(Authentication) {
        jwt {
            verifier(JWT.require(Algorithm.HMAC256(key)).withClaimPresence("exp").build())
            validate { JWTPrincipal(it.payload) }
        }
    }
    authenticate {
        get("/auth") { call.respondText(call.principal<JWTPrincipal>()?.subject.orEmpty()) }
    }
}

/** Twice what another service says. */
private fun Route.upstream(url: String) {
    val client = HttpClient(CIO) {
        expectSuccess = true
        engine {
            maxConnectionsCount = UPSTREAM_CONNECTIONS
            endpoint.maxConnectionsPerRoute = UPSTREAM_CONNECTIONS
        }
        install(ClientContentNegotiation) { json() }
    }
    get("/up/{id}") {
        val id = number("id")
        val value = try {
            client.get("$url/value/$id").body<UpstreamValue>().value
        } catch (failed: IOException) {
            null
        }
        if (value == null) {
            call.respond(HttpStatusCode.BadGateway)
        } else {
            call.respond(Doubled(id.toLong(), 2 * value))
        }
    }
}

/** The CRC-32 of a body, which is never in memory as a whole. */
private suspend fun checksum(body: ByteReadChannel): Long {
    val crc = CRC32()
    val piece = ByteArray(PIECE_BYTES)
    while (true) {
        val length = body.readAvailable(piece)
        if (length < 0) return crc.value
        crc.update(piece, 0, length)
    }
}

/** The sum of all members named `value`. */
private fun sumOfValues(element: JsonElement): Long = when (element) {
    is JsonObject -> element.entries.sumOf { (name, member) ->
        val value = if (name == "value") (member as? JsonPrimitive)?.longOrNull else null
        value ?: sumOfValues(member)
    }
    is JsonArray -> element.sumOf(::sumOfValues)
    is JsonPrimitive -> 0
}

/** Events, each sent when it is due. Ktor's `sse` would send `Cache-Control: no-store`. */
private suspend fun ByteWriteChannel.sendEvents(count: Int) {
    val start = TimeSource.Monotonic.markNow()
    for (i in 0 until count) {
        delay(EVENT_INTERVAL * i - start.elapsedNow())
        writeStringUtf8("data: $i\n\n")
        flush()
    }
}
