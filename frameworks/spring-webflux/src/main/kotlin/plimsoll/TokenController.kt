package plimsoll

import org.springframework.beans.factory.annotation.Value
import org.springframework.http.HttpHeaders.AUTHORIZATION
import org.springframework.http.HttpStatus
import org.springframework.http.MediaType.TEXT_PLAIN_VALUE
import org.springframework.security.oauth2.jose.jws.MacAlgorithm
import org.springframework.security.oauth2.jwt.JwtException
import org.springframework.security.oauth2.jwt.JwtTimestampValidator
import org.springframework.security.oauth2.jwt.NimbusReactiveJwtDecoder
import org.springframework.security.oauth2.jwt.ReactiveJwtDecoder
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RequestHeader
import org.springframework.web.bind.annotation.RestController
import org.springframework.web.server.ResponseStatusException
import reactor.core.publisher.Mono
import java.time.Duration
import javax.crypto.spec.SecretKeySpec

private const val SCHEME = "Bearer "

/**
 * Tokens by Spring Security's decoder, without its filters, which every other request would pass.
 */
@RestController
class TokenController(@Value("\${AUTH_KEY:}") private val key: String) {

    private val decoder: ReactiveJwtDecoder by lazy { decoder(key) }

    @GetMapping("/auth", produces = [TEXT_PLAIN_VALUE])
    fun subject(@RequestHeader(AUTHORIZATION, required = false) authorization: String?): Mono<String> {
        if (authorization == null || !authorization.startsWith(SCHEME)) return Mono.error(unauthorized())
        return decoder.decode(authorization.removePrefix(SCHEME))
            .onErrorMap(JwtException::class.java, ::unauthorized)
            .mapNotNull { it.subject }
            .switchIfEmpty(Mono.error(::unauthorized))
    }
}

private fun decoder(key: String): ReactiveJwtDecoder =
    NimbusReactiveJwtDecoder
        .withSecretKey(SecretKeySpec(key.toByteArray(), "HmacSHA256"))
        .macAlgorithm(MacAlgorithm.HS256)
        .build()
        .apply {
            // Unless told otherwise, a token is taken for a minute more, and without an end.
            val times = JwtTimestampValidator(Duration.ZERO)
            times.setAllowEmptyExpiryClaim(false)
            setJwtValidator(times)
        }

private fun unauthorized(cause: Throwable? = null) =
    ResponseStatusException(HttpStatus.UNAUTHORIZED, null, cause)
