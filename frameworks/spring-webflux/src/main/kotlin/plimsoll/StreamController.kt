package plimsoll

import org.springframework.http.CacheControl
import org.springframework.http.HttpStatus
import org.springframework.http.MediaType.TEXT_EVENT_STREAM
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException
import reactor.core.publisher.Flux
import java.time.Duration

private const val MOST_EVENTS = 100
private val EVENT_INTERVAL: Duration = Duration.ofMillis(10)

@RestController
class StreamController {

    /** Events, each sent when it is due; those that the connection cannot take yet wait. */
    @GetMapping("/stream/{count}")
    fun stream(@PathVariable count: Int): ResponseEntity<Flux<String>> {
        if (count !in 1..MOST_EVENTS) throw ResponseStatusException(HttpStatus.NOT_FOUND)
        val events = Flux.interval(Duration.ZERO, EVENT_INTERVAL)
            .take(count.toLong())
            .onBackpressureBuffer(MOST_EVENTS)
            .map { it.toString() }
        return ResponseEntity.ok()
            .contentType(TEXT_EVENT_STREAM)
            .cacheControl(CacheControl.noCache())
            .body(events)
    }
}
