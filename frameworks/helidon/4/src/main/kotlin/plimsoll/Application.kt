package plimsoll

import com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS
import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import io.helidon.common.configurable.Resource
import io.helidon.common.pki.Keys
import io.helidon.common.socket.SocketOptions
import io.helidon.common.tls.Tls
import io.helidon.http.media.MediaContext
import io.helidon.http.media.jackson.JacksonSupport
import io.helidon.webserver.WebServer
import io.helidon.webserver.http1.Http1Config
import io.helidon.webserver.websocket.WsRouting
import java.nio.file.Path
import java.time.Duration

fun main() {
    val environment = System.getenv()
    // Jackson would stop reading at the end of the first value.
    val mapper = jacksonObjectMapper().enable(FAIL_ON_TRAILING_TOKENS)
    val media = MediaContext.builder().addMediaSupport(JacksonSupport.create(mapper)).build()
    val builder = WebServer.builder()
        .host(environment["HOST"])
        .port(environment.getValue("PORT").toInt())
        .backlog(4096)
        // Helidon's own limit is 5 minutes of silence.
        .idleConnectionTimeout(Duration.ofHours(1))
        // By HTTP/2, head and body are two writes; with Nagle's algorithm, Helidon's default, the
        // second waits for the client's delayed ACK.
        .connectionOptions(SocketOptions.builder().tcpNoDelay(true).build())
        // Room for 26 arguments of any signs, percent-encoded.
        .addProtocol(Http1Config.builder().maxPrologueLength(64 * 1024).build())
        .mediaContext(media)
        .routing(routing(DatabaseService(environment), WebService(mapper, media, environment)))
        .addRouting(WsRouting.builder().endpoint("/echo", Echo))
    environment["TLS_CERT"]?.let { builder.tls(tls(it, environment.getValue("TLS_KEY"))) }
    builder.build().start()
}

private fun tls(certificate: String, key: String): Tls {
    val keys = Keys.builder()
        .pem { pem ->
            pem.certChain(Resource.create(Path.of(certificate))).key(Resource.create(Path.of(key)))
        }
        .build()
    return Tls.builder()
        .privateKey(keys.privateKey().orElseThrow())
        .privateKeyCertChain(keys.certChain())
        .build()
}
