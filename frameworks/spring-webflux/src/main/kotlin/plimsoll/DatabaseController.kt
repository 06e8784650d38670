package plimsoll

import org.springframework.http.HttpStatus
import org.springframework.stereotype.Controller
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.ResponseBody
import org.springframework.web.reactive.result.view.Rendering
import org.springframework.web.server.ResponseStatusException
import reactor.core.publisher.Mono

private const val MOST_UPDATES = 500
private const val ADDED = "This sentence was added when the request came."

@Controller
class DatabaseController(private val rows: Rows) {

    @GetMapping("/db/{id}")
    @ResponseBody
    fun world(@PathVariable id: Int): Mono<World> =
        rows.world(id).switchIfEmpty(Mono.error { ResponseStatusException(HttpStatus.NOT_FOUND) })

    @GetMapping("/fortunes")
    fun fortunes(): Mono<Rendering> = rows.fortunes().collectList().map { found ->
        val all = found + Fortune(0, ADDED)
        Rendering.view("fortunes").modelAttribute("fortunes", all.sortedBy { it.message }).build()
    }

    @PostMapping("/updates/{count}")
    @ResponseBody
    fun updates(@PathVariable count: Int): Mono<List<World>> {
        if (count !in 1..MOST_UPDATES) throw ResponseStatusException(HttpStatus.BAD_REQUEST)
        return rows.update(count)
    }
}
