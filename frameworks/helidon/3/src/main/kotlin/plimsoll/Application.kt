package plimsoll

import com.fasterxml.jackson.databind.DeserializationFeature.FAIL_ON_TRAILING_TOKENS
import com.fasterxml.jackson.module.kotlin.jacksonObjectMapper
import io.helidon.common.configurable.Resource
import io.helidon.common.pki.KeyConfig
import io.helidon.media.jackson.JacksonSupport
import io.helidon.media.multipart.MultiPartSupport
import io.helidon.webserver.WebServer
import io.helidon.webserver.WebServerTls
import java.net.InetAddress
import java.nio.file.Path
import java.util.concurrent.TimeUnit.SECONDS

fun main() {
    val environment = System.getenv()
    // Jackson would stop reading at the end of the first value.
    val mapper = jacksonObjectMapper().enable(FAIL_ON_TRAILING_TOKENS)
    val builder = WebServer.builder()
        .bindAddress(InetAddress.getByName(environment["HOST"]))
        .port(environment.getValue("PORT").toInt())
        .backlog(4096)
        // Room for 26 arguments of any signs, percent-encoded.
        .maxInitialLineLength(64 * 1024)
        .addMediaSupport(JacksonSupport.create(mapper))
        .addMediaSupport(MultiPartSupport.create())
        .routing(routing())
    environment["TLS_CERT"]?.let { builder.tls(tls(it, environment.getValue("TLS_KEY"))) }
    val server = builder.build()
    Runtime.getRuntime().addShutdownHook(Thread { server.shutdown().await(5, SECONDS) })
    server.start().await()
}

private fun tls(certificate: String, key: String): WebServerTls {
    val keys = KeyConfig.pemBuilder()
        .certChain(Resource.create(Path.of(certificate)))
        .key(Resource.create(Path.of(key)))
        .build()
    return WebServerTls.builder().privateKey(keys).build()
}
