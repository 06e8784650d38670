package plimsoll

import org.springframework.http.MediaType.APPLICATION_FORM_URLENCODED_VALUE
import org.springframework.http.MediaType.MULTIPART_FORM_DATA_VALUE
import org.springframework.http.MediaType.TEXT_PLAIN_VALUE
import org.springframework.http.ResponseEntity
import org.springframework.http.codec.multipart.FormFieldPart
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ServerWebExchange
import reactor.core.publisher.Mono
import java.math.BigInteger
import java.util.zip.CRC32

private val HELLO_WORLD = "Hello, World!".toByteArray()
private val BODY_2048 = "A".repeat(2048).toByteArray()
private val BODY_8192 = "A".repeat(8192).toByteArray()
private val BODY_32768 = "A".repeat(32768).toByteArray()

data class Person(val id: Long, val firstName: String, val lastName: String)

@RestController
class ContractController {

    @GetMapping("/empty")
    fun empty(): ResponseEntity<Void> = ResponseEntity.ok().build()

    @GetMapping("/plaintext", produces = [TEXT_PLAIN_VALUE])
    fun plaintext() = HELLO_WORLD

    @GetMapping("/2048", produces = [TEXT_PLAIN_VALUE])
    fun body2048() = BODY_2048

    @GetMapping("/8192", produces = [TEXT_PLAIN_VALUE])
    fun body8192() = BODY_8192

    @GetMapping("/32768", produces = [TEXT_PLAIN_VALUE])
    fun body32768() = BODY_32768

    @GetMapping("/getArgs2048", produces = [TEXT_PLAIN_VALUE])
    fun queryArgs(@RequestParam arguments: Map<String, String>) = countedDecodedBytes(arguments.values)

    @PostMapping(
        "/postArgs2048",
        consumes = [APPLICATION_FORM_URLENCODED_VALUE],
        produces = [TEXT_PLAIN_VALUE],
    )
    fun formArgs(exchange: ServerWebExchange): Mono<ResponseEntity<ByteArray>> =
        exchange.formData.map { form -> countedDecodedBytes(form.toSingleValueMap().values) }

    @PostMapping(
        "/postArgsMulti2048",
        consumes = [MULTIPART_FORM_DATA_VALUE],
        produces = [TEXT_PLAIN_VALUE],
    )
    fun multipartArgs(exchange: ServerWebExchange): Mono<ResponseEntity<ByteArray>> =
        exchange.multipartData.map { parts ->
            val fields = parts.toSingleValueMap().values.filterIsInstance<FormFieldPart>()
            countedDecodedBytes(fields.map { it.value() })
        }

    @GetMapping("/args", produces = [TEXT_PLAIN_VALUE])
    fun checksum(@RequestParam arguments: Map<String, String>) =
        checksum(arguments.toSortedMap().values).toString()

    @PostMapping("/json")
    fun json(@RequestBody person: Person) = person

    @GetMapping("/fibonacci/{n:\\d+}", produces = [TEXT_PLAIN_VALUE])
    fun fibonacci(@PathVariable n: Int) = fibonacciNumber(n).toString()
}

/** The constant body, with the length of all values in UTF-8 as proof that they were decoded. */
private fun countedDecodedBytes(values: Collection<String>): ResponseEntity<ByteArray> =
    ResponseEntity.ok()
        .header("decoded-bytes", values.sumOf { it.toByteArray().size }.toString())
        .body(BODY_2048)

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
