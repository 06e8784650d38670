package plimsoll

import org.springframework.http.MediaType.APPLICATION_OCTET_STREAM_VALUE
import org.springframework.http.MediaType.TEXT_PLAIN_VALUE
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.RequestBody
import org.springframework.web.bind.annotation.RestController
import tools.jackson.databind.JsonNode
import java.io.InputStream
import java.io.OutputStream
import java.util.zip.CRC32
import java.util.zip.CheckedInputStream

/** Large bodies. */
@RestController
class BodyController {

    /** The CRC-32 of a body, which is never in memory as a whole. */
    @PostMapping(
        "/upload",
        consumes = [APPLICATION_OCTET_STREAM_VALUE],
        produces = [TEXT_PLAIN_VALUE],
    )
    fun upload(body: InputStream): String {
        val checked = CheckedInputStream(body, CRC32())
        checked.transferTo(OutputStream.nullOutputStream())
        return checked.checksum.value.toString()
    }

    /** The sum of all members named `value`. */
    @PostMapping("/json-in", produces = [TEXT_PLAIN_VALUE])
    fun sumOfValues(@RequestBody document: JsonNode) =
        document.findValues("value").sumOf { it.longValue() }.toString()
}
