package plimsoll

import com.fasterxml.jackson.annotation.JsonUnwrapped
import org.springframework.beans.factory.annotation.Value
import org.springframework.http.HttpHeaders.ACCEPT_ENCODING
import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException
import tools.jackson.databind.json.JsonMapper
import tools.jackson.module.kotlin.readValue
import java.io.File

data class Rating(val score: Double, val count: Int)

data class Item(
    val id: Int,
    val name: String,
    val category: String,
    val price: Long,
    val quantity: Long,
    val active: Boolean,
    val tags: List<String>,
    val rating: Rating,
)

data class PricedItem(@get:JsonUnwrapped val item: Item, val total: Long)

data class Items(val count: Int, val items: List<PricedItem>)

@RestController
class ItemsController(mapper: JsonMapper, @Value("\${FILES:}") files: String) {

    private val records: List<Item> by lazy { mapper.readValue(File(files, "items.json")) }

    @GetMapping("/items/{count}")
    fun items(@PathVariable count: Int, @RequestParam m: Long): ResponseEntity<Items> {
        if (count !in 1..records.size) throw ResponseStatusException(HttpStatus.NOT_FOUND)
        val found = records.take(count).map { PricedItem(it, it.price * it.quantity * m) }
        return ResponseEntity.ok().varyBy(ACCEPT_ENCODING).body(Items(count, found))
    }
}
