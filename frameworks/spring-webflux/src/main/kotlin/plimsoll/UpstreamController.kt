package plimsoll

import org.springframework.beans.factory.annotation.Value
import org.springframework.http.HttpStatus
import org.springframework.http.ResponseEntity
import org.springframework.web.bind.annotation.ExceptionHandler
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.reactive.function.client.ClientResponse
import org.springframework.web.reactive.function.client.WebClient
import org.springframework.web.reactive.function.client.WebClientException
import org.springframework.web.reactive.function.client.bodyToMono
import reactor.core.publisher.Mono

data class UpstreamValue(val id: Long, val value: Long)

data class Doubled(val id: Long, val doubled: Long)

/** Asks another service. */
@RestController
class UpstreamController(builder: WebClient.Builder, @Value("\${UPSTREAM_URL:}") address: String) {

    private val client = builder.baseUrl(address).build()

    @GetMapping("/up/{id}")
    fun doubled(@PathVariable id: Long): Mono<Doubled> =
        client.get().uri("/value/{id}", id)
            .retrieve()
            .onStatus({ it != HttpStatus.OK }, ClientResponse::createException)
            .bodyToMono<UpstreamValue>()
            .map { Doubled(id, 2 * it.value) }

    @ExceptionHandler(WebClientException::class)
    fun badGateway(): ResponseEntity<Void> = ResponseEntity.status(HttpStatus.BAD_GATEWAY).build()
}
