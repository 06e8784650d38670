package plimsoll

import org.springframework.boot.task.ThreadPoolTaskSchedulerBuilder
import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.http.CacheControl
import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.scheduling.TaskScheduler
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter
import java.io.IOException
import java.time.Duration

private const val MOST_EVENTS = 100
private val EVENT_INTERVAL: Duration = Duration.ofMillis(10)

@Configuration
class StreamConfiguration {

    @Bean
    fun eventScheduler(builder: ThreadPoolTaskSchedulerBuilder): TaskScheduler =
        builder.poolSize(Runtime.getRuntime().availableProcessors()).build()
}

@RestController
class StreamController(private val eventScheduler: TaskScheduler) {

    @GetMapping("/stream/{count}")
    fun stream(@PathVariable count: Int): ResponseEntity<SseEmitter> {
        if (count !in 1..MOST_EVENTS) throw ResponseStatusException(HttpStatus.NOT_FOUND)
        return ResponseEntity.ok()
            .cacheControl(CacheControl.noCache())
            .body(Events(count).startedBy(eventScheduler))
    }
}

/** The events of one response, which a scheduler sends when they are due. */
private class Events(private val count: Int) {

    private val emitter = SseEmitter()
    private var sent = 0

    fun startedBy(scheduler: TaskScheduler): SseEmitter {
        val sending = scheduler.scheduleAtFixedRate(::sendNext, EVENT_INTERVAL)
        emitter.onCompletion { sending.cancel(false) }
        return emitter
    }

    private fun sendNext() {
        if (sent == count) return
        try {
            emitter.send(SseEmitter.event().data(sent.toString()))
            sent++
            if (sent == count) emitter.complete()
        } catch (gone: IOException) {
            emitter.completeWithError(gone)
        }
    }
}
