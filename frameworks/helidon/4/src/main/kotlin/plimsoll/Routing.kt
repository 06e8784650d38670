package plimsoll

import io.helidon.common.media.type.MediaTypes
import io.helidon.common.parameters.Parameters
import io.helidon.http.BadRequestException
import io.helidon.http.HeaderNames
import io.helidon.http.HeaderValues
import io.helidon.http.NotFoundException
import io.helidon.http.media.jackson.JacksonRuntimeException
import io.helidon.webserver.http.Handler
import io.helidon.webserver.http.HttpRouting
import io.helidon.webserver.http.HttpService
import io.helidon.webserver.http.ServerRequest
import io.helidon.webserver.http.ServerResponse
import java.math.BigInteger
import java.util.zip.CRC32

private val DECODED_BYTES = HeaderNames.create("decoded-bytes")
private val TEXT = HeaderValues.createCached(HeaderNames.CONTENT_TYPE, MediaTypes.TEXT_PLAIN.text())
private val HELLO_WORLD = "Hello, World!".toByteArray()
private val BODY_2048 = "A".repeat(2048).toByteArray()
private val BODY_8192 = "A".repeat(8192).toByteArray()
private val BODY_32768 = "A".repeat(32768).toByteArray()

data class Person(val id: Long, val firstName: String, val lastName: String)

/** Services come last: Helidon tries one route after another. */
fun routing(vararg services: HttpService): HttpRouting.Builder = HttpRouting.builder()
    .get("/empty", Handler { _, response -> response.send() })
    .get("/plaintext", Handler { _, response -> response.text(HELLO_WORLD) })
    .get("/2048", Handler { _, response -> response.text(BODY_2048) })
    .get("/8192", Handler { _, response -> response.text(BODY_8192) })
    .get("/32768", Handler { _, response -> response.text(BODY_32768) })
    .get("/getArgs2048", Handler { request, response ->
        response.countedDecodedBytes(request.query().toMap().values.flatten())
    })
    .post("/postArgs2048", Handler { request, response ->
        val form = request.content().`as`(Parameters::class.java)
        response.countedDecodedBytes(form.toMap().values.flatten())
    })
    .get("/args", Handler { request, response ->
        val arguments = request.query().toMap().toSortedMap()
        response.text(checksum(arguments.values.flatten()).toString().toByteArray())
    })
    .post("/json", Handler { request, response ->
        val person = request.content().asOptional(Person::class.java)
        response.send(person.orElseThrow { BadRequestException("there is no body") })
    })
    .get("/fibonacci/{n:\\d+}", Handler { request, response ->
        val n = request.path().pathParameters()["n"].toInt()
        response.text(fibonacciNumber(n).toString().toByteArray())
    })
    .apply { services.forEach { register(it) } }
    .error(JacksonRuntimeException::class.java) { _, response, _ -> response.status(400).send() }
    // By HTTP/2, Helidon 4.5.0 itself responds to this exception only if the request has a body.
    .error(BadRequestException::class.java) { _, response, _ -> response.status(400).send() }

/** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
private fun ServerResponse.countedDecodedBytes(values: Collection<String>) {
    header(DECODED_BYTES, values.sumOf { it.toByteArray().size }.toString())
    text(BODY_2048)
}

fun ServerResponse.text(body: ByteArray) {
    header(TEXT)
    send(body)
}

/** A number in the path. */
fun ServerRequest.number(name: String): Int =
    path().pathParameters()[name].toIntOrNull() ?: throw NotFoundException("not a number")

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
