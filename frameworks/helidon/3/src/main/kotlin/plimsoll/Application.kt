package plimsoll

import com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS
import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import io.helidon.media.jackson.JacksonSupport
import io.helidon.media.multipart.MultiPartSupport
import io.helidon.webserver.WebServer
import java.net.InetAddress
import java.util.concurrent.TimeUnit.SECONDS

fun main() {
    val environment = System.getenv()
    // Jackson would stop reading at the end of the first value.
    val mapper = jacksonObjectMapper().enable(FAIL_ON_TRAILING_TOKENS)
    val server = WebServer.builder()
        .bindAddress(InetAddress.getByName(environment["HOST"]))
        .port(environment.getValue("PORT").toInt())
        .backlog(4096)
        // Room for 26 arguments of any signs, percent-encoded.
        .maxInitialLineLength(64 * 1024)
        .addMediaSupport(JacksonSupport.create(mapper))
        .addMediaSupport(MultiPartSupport.create())
        .routing(routing())
        .build()
    Runtime.getRuntime().addShutdownHook(Thread { server.shutdown().await(5, SECONDS) })
    server.start().await()
}
