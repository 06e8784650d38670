package plimsoll

import io.helidon.common.http.FormParams
import io.helidon.common.http.MediaType
import io.helidon.media.jackson.JacksonRuntimeException
import io.helidon.media.multipart.ReadableBodyPart
import io.helidon.webserver.Handler
import io.helidon.webserver.Routing
import io.helidon.webserver.ServerRequest
import io.helidon.webserver.ServerResponse
import java.math.BigInteger
import java.util.zip.CRC32

private val HELLO_WORLD = "Hello, World!".toByteArray()
private val BODY_2048 = "A".repeat(2048).toByteArray()
private val BODY_8192 = "A".repeat(8192).toByteArray()
private val BODY_32768 = "A".repeat(32768).toByteArray()

data class Person(val id: Long, val firstName: String, val lastName: String)

fun routing(): Routing = Routing.builder()
    .get("/empty", Handler { _, response -> response.send() })
    .get("/plaintext", Handler { _, response -> response.text(HELLO_WORLD) })
    .get("/2048", Handler { _, response -> response.text(BODY_2048) })
    .get("/8192", Handler { _, response -> response.text(BODY_8192) })
    .get("/32768", Handler { _, response -> response.text(BODY_32768) })
    .get("/getArgs2048", Handler { request, response ->
        response.countedDecodedBytes(request.queryParams().toMap().values.flatten())
    })
    .post("/postArgs2048", Handler.create(FormParams::class.java) { _, response, form ->
        response.countedDecodedBytes(form.toMap().values.flatten())
    })
    .post("/postArgsMulti2048", Handler(::multipart))
    .get("/args", Handler { request, response ->
        val arguments = request.queryParams().toMap().toSortedMap()
        response.text(checksum(arguments.values.flatten()).toString().toByteArray())
    })
    .post("/json", Handler.create(Person::class.java) { _, response, person ->
        response.send(person)
    })
    .get("/fibonacci/{n:\\d+}", Handler { request, response ->
        val number = fibonacciNumber(request.path().param("n").toInt())
        response.text(number.toString().toByteArray())
    })
    .error(JacksonRuntimeException::class.java) { _, response, _ -> response.status(400).send() }
    .build()

private fun multipart(request: ServerRequest, response: ServerResponse) {
    request.content()
        .asStream(ReadableBodyPart::class.java)
        .flatMap { part -> part.content().`as`(String::class.java) }
        .collectList()
        .onError(request::next)
        .forSingle(response::countedDecodedBytes)
}

/** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
private fun ServerResponse.countedDecodedBytes(values: Collection<String>) {
    addHeader("decoded-bytes", values.sumOf { it.toByteArray().size }.toString())
    text(BODY_2048)
}

private fun ServerResponse.text(body: ByteArray) {
    headers().contentType(MediaType.TEXT_PLAIN)
    send(body)
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
