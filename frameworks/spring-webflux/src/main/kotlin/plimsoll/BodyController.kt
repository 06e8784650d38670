package plimsoll

import org.springframework.core.io.buffer.DataBuffer
import org.springframework.core.io.buffer.DataBufferUtils
import org.springframework.http.MediaType.APPLICATION_OCTET_STREAM_VALUE
import org.springframework.http.MediaType.TEXT_PLAIN_VALUE
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RestController
import reactor.core.publisher.Flux
import reactor.core.publisher.Mono
import tools.jackson.databind.JsonNode
import java.util.zip.CRC32

/** Large bodies. */
@RestController
class BodyController {

    /** The CRC-32 of a body, which is never in memory as a whole. */
    @PostMapping(
        "/upload",
        consumes = [APPLICATION_OCTET_STREAM_VALUE],
        produces = [TEXT_PLAIN_VALUE],
    )
    fun upload(@RequestBody(required = false) body: Flux<DataBuffer>): Mono<String> {
        val crc = CRC32()
        // Not doOnNext: pieces that reach the end of a chain are released there.
        return body.map { crc.updateAndRelease(it) }.then(Mono.fromCallable { crc.value.toString() })
    }

    /** The sum of all members named `value`. */
    @PostMapping("/json-in", produces = [TEXT_PLAIN_VALUE])
    fun sumOfValues(@RequestBody document: JsonNode) =
        document.findValues("value").sumOf { it.longValue() }.toString()
}

private fun CRC32.updateAndRelease(piece: DataBuffer) {
    piece.readableByteBuffers().use { buffers -> buffers.forEach(::update) }
    DataBufferUtils.release(piece)
}
