package plimsoll

import org.springframework.beans.factory.annotation.Value
import org.springframework.http.HttpStatus
import org.springframework.http.client.JdkClientHttpRequestFactory
import org.springframework.web.bind.annotation.ExceptionHandler
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.PathVariable
import org.springframework.web.bind.annotation.ResponseStatus
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.client.RestClient
import org.springframework.web.client.RestClientException
import org.springframework.web.client.body
import java.net.http.HttpClient

data class UpstreamValue(val id: Long, val value: Long)

data class Doubled(val id: Long, val doubled: Long)

/** Asks another service; Java's client keeps as many connections open as there are calls at a time. */
@RestController
class UpstreamController(builder: RestClient.Builder, @Value("\${UPSTREAM_URL:}") address: String) {

    // Without a version, Java's client asks every new connection for HTTP/2.
    private val http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()

    private val client =
        builder.baseUrl(address).requestFactory(JdkClientHttpRequestFactory(http)).build()

    @GetMapping("/up/{id}")
    fun doubled(@PathVariable id: Long): Doubled {
        val answer = client.get().uri("/value/{id}", id).retrieve().body<UpstreamValue>()
            ?: throw RestClientException("the upstream says nothing")
        return Doubled(id, 2 * answer.value)
    }

    @ExceptionHandler(RestClientException::class)
    @ResponseStatus(HttpStatus.BAD_GATEWAY)
    fun badGateway() = Unit
}
