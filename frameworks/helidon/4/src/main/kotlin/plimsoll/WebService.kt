package plimsoll

import com.auth0.jwt.JWT
import com.auth0.jwt.algorithms.Algorithm
import com.auth0.jwt.exceptions.JWTVerificationException
import com.fasterxml.jackson.annotation.JsonUnwrapped
import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import com.fasterxml.jackson.module.kotlin.readValue
import io.helidon.http.BadRequestException
import io.helidon.http.HeaderNames.AUTHORIZATION
import io.helidon.http.HeaderNames.CACHE_CONTROL
import io.helidon.http.HeaderNames.CONTENT_TYPE
import io.helidon.http.HeaderValues
import io.helidon.http.HttpException
import io.helidon.http.NotFoundException
import io.helidon.http.Status
import io.helidon.http.UnauthorizedException
import io.helidon.http.media.MediaContext
import io.helidon.webclient.api.WebClient
import io.helidon.webserver.http.Handler
import io.helidon.webserver.http.HttpRules
import io.helidon.webserver.http.HttpService
import io.helidon.webserver.http.ServerRequest
import io.helidon.webserver.http.ServerResponse
import java.io.File
import java.io.OutputStream
import java.time.Duration
import java.util.zip.CRC32
import java.util.zip.CheckedInputStream

private const val ROUTES = 1000
private const val MOST_EVENTS = 100
private const val SCHEME = "Bearer "
private val EVENT_STREAM = HeaderValues.createCached(CONTENT_TYPE, "text/event-stream")
private val EVENT_INTERVAL: Duration = Duration.ofMillis(10)

data class Rating(val score: Double, val count: Int)

data class Item(
    val id: Int,
    val name: String,
    val category: String,
    val price: Long,
    val quantity: Long,
    val active: Boolean,
    val tags: List<String>,
    val rating: Rating,
)

data class PricedItem(@get:JsonUnwrapped val item: Item, val total: Long)

data class Items(val count: Int, val items: List<PricedItem>)

data class UpstreamValue(val id: Long, val value: Long)

data class Doubled(val id: Long, val doubled: Long)

/** What web applications do besides: many routes, tokens, large bodies, calls of another service. */
class WebService(
    mapper: ObjectMapper,
    media: MediaContext,
    environment: Map<String, String>,
) : HttpService {

    private val records: List<Item> by lazy {
        mapper.readValue(File(environment.getValue("FILES"), "items.json"))
    }

    private val verifier = JWT.require(Algorithm.HMAC256(environment["AUTH_KEY"].orEmpty()))
        .withClaimPresence("exp")
        .build()

    private val client: WebClient by lazy {
        WebClient.builder().baseUri(environment.getValue("UPSTREAM_URL")).mediaContext(media).build()
    }

    override fun routing(rules: HttpRules) {
        rules
            .get("/items/{count}", Handler(::items))
            .post("/upload", Handler(::upload))
            .post("/json-in", Handler(::sumOfValues))
            .get("/stream/{count}", Handler(::stream))
            .get("/auth", Handler(::subject))
            .get("/up/{id}", Handler(::doubled))
            // Helidon tries one route after another: only paths that begin like this pay for a thousand.
            .register("/r", ManyRoutes)
    }

    private fun items(request: ServerRequest, response: ServerResponse) {
        val count = request.number("count")
        if (count !in 1..records.size) throw NotFoundException("there are no such items")
        val factor = request.query()["m"].toLong()
        val found = records.take(count).map { PricedItem(it, it.price * it.quantity * factor) }
        response.send(Items(count, found))
    }

    /** The CRC-32 of a body, which is never in memory as a whole. */
    private fun upload(request: ServerRequest, response: ServerResponse) {
        val checked = CheckedInputStream(request.content().inputStream(), CRC32())
        checked.transferTo(OutputStream.nullOutputStream())
        response.text(checked.checksum.value.toString().toByteArray())
    }

    /** The sum of all members named `value`. */
    private fun sumOfValues(request: ServerRequest, response: ServerResponse) {
        val document = request.content().asOptional(JsonNode::class.java)
            .orElseThrow { BadRequestException("there is no body") }
        val sum = document.findValues("value").sumOf { it.longValue() }
        response.text(sum.toString().toByteArray())
    }

    /** Events, each sent when it is due. Helidon's SseSink would close the connection behind them. */
    private fun stream(request: ServerRequest, response: ServerResponse) {
        val count = request.number("count")
        if (count !in 1..MOST_EVENTS) throw NotFoundException("there are 1 to 100 events")
        response.header(EVENT_STREAM)
        response.header(CACHE_CONTROL, "no-cache")
        response.outputStream().use { events ->
            val start = System.nanoTime()
            for (i in 0 until count) {
                val due = start + i * EVENT_INTERVAL.toNanos()
                Thread.sleep(Duration.ofNanos(due - System.nanoTime()))
                events.write("data: $i\n\n".toByteArray())
                events.flush()
            }
        }
    }

    /** The subject of a valid token. */
    private fun subject(request: ServerRequest, response: ServerResponse) {
        val authorization = request.headers().first(AUTHORIZATION).orElse("")
        if (!authorization.startsWith(SCHEME)) throw UnauthorizedException("there is no token")
        try {
            val token = verifier.verify(authorization.removePrefix(SCHEME))
            response.text(token.subject.toByteArray())
        } catch (invalid: JWTVerificationException) {
            throw UnauthorizedException("the token is not valid", invalid)
        }
    }

    /** Twice what another service says. */
    private fun doubled(request: ServerRequest, response: ServerResponse) {
        val id = request.number("id")
        response.send(Doubled(id.toLong(), 2 * value(id)))
    }

    private fun value(id: Int): Long {
        val answer = try {
            client.get("/value/$id").request(UpstreamValue::class.java)
        } catch (failed: RuntimeException) {
            throw HttpException("the upstream was not reached", Status.BAD_GATEWAY_502, failed)
        }
        if (answer.status() != Status.OK_200) {
            throw HttpException("the upstream's status is ${answer.status()}", Status.BAD_GATEWAY_502)
        }
        return answer.entity().value
    }
}

/** Routes that are registered one by one. */
private object ManyRoutes : HttpService {

    override fun routing(rules: HttpRules) {
        for (k in 0 until ROUTES) {
            rules.get("/$k/x/{id}", Handler { request, response ->
                response.text("$k:${request.path().pathParameters()["id"]}".toByteArray())
            })
        }
    }
}
