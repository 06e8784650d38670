package plimsoll

import io.ktor.http.ContentType
import io.ktor.http.HttpStatusCode
import io.ktor.http.content.PartData
import io.ktor.http.content.forEachPart
import io.ktor.server.application.ApplicationCall
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.NotFoundException
import io.ktor.server.request.receive
import io.ktor.server.request.receiveMultipart
import io.ktor.server.request.receiveParameters
import io.ktor.server.response.header
import io.ktor.server.response.respond
import io.ktor.server.response.respondBytes
import io.ktor.server.response.respondText
import io.ktor.server.routing.Route
import io.ktor.server.routing.RoutingContext
import io.ktor.server.routing.get
import io.ktor.server.routing.post
import io.ktor.util.toMap
import kotlinx.serialization.Serializable
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.decodeFromJsonElement
import java.math.BigInteger
import java.util.zip.CRC32

private val HELLO_WORLD = "Hello, World!".toByteArray()
private val BODY_2048 = "A".repeat(2048).toByteArray()
private val BODY_8192 = "A".repeat(8192).toByteArray()
private val BODY_32768 = "A".repeat(32768).toByteArray()

@Serializable
data class Person(val id: Long, val firstName: String, val lastName: String)

fun Route.contract() {
    get("/empty") { call.respond(HttpStatusCode.OK) }
    get("/plaintext") { call.respondBytes(HELLO_WORLD, ContentType.Text.Plain) }
    get("/2048") { call.respondBytes(BODY_2048, ContentType.Text.Plain) }
    get("/8192") { call.respondBytes(BODY_8192, ContentType.Text.Plain) }
    get("/32768") { call.respondBytes(BODY_32768, ContentType.Text.Plain) }
    get("/getArgs2048") {
        call.respondCountedDecodedBytes(call.queryParameters.toMap().values.flatten())
    }
    post("/postArgs2048") {
        call.respondCountedDecodedBytes(call.receiveParameters().toMap().values.flatten())
    }
    post("/postArgsMulti2048") { call.respondCountedDecodedBytes(call.formItems()) }
    get("/args") {
        val arguments = call.queryParameters.toMap().toSortedMap()
        call.respondText(checksum(arguments.values.flatten()).toString())
    }
    post("/json") { call.respond(person(call.receive<JsonElement>())) }
    get("/fibonacci/{n}") { call.respondText(fibonacciNumber(number("n")).toString()) }
}

/** A number in the path. */
fun RoutingContext.number(name: String): Int =
    call.pathParameters[name]?.toIntOrNull()?.takeIf { it >= 0 } ?: throw NotFoundException()

/**
 * By way of a tree: alone, kotlinx.serialization's decoder of classes takes members without a comma
 * between them, and that of trees takes bare words.
 */
private fun person(tree: JsonElement): Person = try {
    Json.decodeFromJsonElement(tree)
} catch (broken: SerializationException) {
    throw BadRequestException("not a person", broken)
}

private suspend fun ApplicationCall.formItems(): List<String> = buildList {
    receiveMultipart().forEachPart { part ->
        if (part is PartData.FormItem) add(part.value)
        part.dispose()
    }
}

/** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
private suspend fun ApplicationCall.respondCountedDecodedBytes(values: Collection<String>) {
    response.header("decoded-bytes", values.sumOf { it.toByteArray().size })
    respondBytes(BODY_2048, ContentType.Text.Plain)
}

/** The CRC-32 of the values, each followed by a line feed. */
private fun checksum(values: Collection<String>): Long {
    val crc = CRC32()
    for (value in values) crc.update("$value\n".toByteArray())
    return crc.value
}

/** F(n) by n - 1 additions; F(0) = 0, F(1) = 1. */
private fun fibonacciNumber(n: Int): BigInteger {
    if (n == 0) return BigInteger.ZERO
    var previous = BigInteger.ZERO
    var current = BigInteger.ONE
    repeat(n - 1) {
        val next = previous + current
        previous = current
        current = next
    }
    return current
}
