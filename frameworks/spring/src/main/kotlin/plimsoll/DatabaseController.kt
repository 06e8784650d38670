package plimsoll

import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.stereotype.Controller
import org.springframework.ui.Model
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.PostMapping
import org.springframework.web.bind.annotation.ResponseBody
import org.springframework.web.server.ResponseStatusException

private const val MOST_UPDATES = 500
private const val ADDED = "This sentence was added when the request came."

@Controller
class DatabaseController(private val rows: Rows) {

    @GetMapping("/db/{id}")
    @ResponseBody
    fun world(@PathVariable id: Int): ResponseEntity<World> = ResponseEntity.of(rows.world(id))

    @GetMapping("/fortunes")
    fun fortunes(model: Model): String {
        val found = rows.fortunes() + Fortune(0, ADDED)
        model.addAttribute("fortunes", found.sortedBy { it.message })
        return "fortunes"
    }

    @PostMapping("/updates/{count}")
    @ResponseBody
    fun updates(@PathVariable count: Int): List<World> {
        if (count !in 1..MOST_UPDATES) throw ResponseStatusException(HttpStatus.BAD_REQUEST)
        return rows.update(count)
    }
}
