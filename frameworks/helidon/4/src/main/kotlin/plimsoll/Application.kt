package plimsoll

import com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS
import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import io.helidon.http.media.MediaContext
import io.helidon.http.media.jackson.JacksonSupport
import io.helidon.webserver.WebServer
import io.helidon.webserver.http1.Http1Config
import java.time.Duration

fun main() {
    val environment = System.getenv()
    // Jackson would stop reading at the end of the first value.
    val mapper = jacksonObjectMapper().enable(FAIL_ON_TRAILING_TOKENS)
    val media = MediaContext.builder().addMediaSupport(JacksonSupport.create(mapper)).build()
    WebServer.builder()
        .host(environment["HOST"])
        .port(environment.getValue("PORT").toInt())
        .backlog(4096)
        // Helidon's own limit is 5 minutes of silence.
        .idleConnectionTimeout(Duration.ofHours(1))
        // Room for 26 arguments of any signs, percent-encoded.
        .addProtocol(Http1Config.builder().maxPrologueLength(64 * 1024).build())
        .mediaContext(media)
        .routing(routing(DatabaseService(environment), WebService(mapper, media, environment)))
        .build()
        .start()
}
