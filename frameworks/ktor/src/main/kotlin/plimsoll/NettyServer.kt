package plimsoll

import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.engine.sslConnector
import io.ktor.server.netty.Netty
import io.ktor.server.netty.NettyApplicationEngine
import io.netty.channel.ChannelOption

private const val BACKLOG = 4096

/** Room for 26 arguments of any signs, percent-encoded. */
private const val LONGEST_REQUEST_LINE = 64 * 1024

/** Serves by Netty, the engine that Ktor's project generator and its guides begin with. */
fun main() {
    val environment = System.getenv()
    embeddedServer(Netty, configure = { listen(environment) }) { application(environment) }
        .start(wait = true)
}

private fun NettyApplicationEngine.Configuration.listen(environment: Map<String, String>) {
    maxInitialLineLength = LONGEST_REQUEST_LINE
    configureBootstrap = { option(ChannelOption.SO_BACKLOG, BACKLOG) }
    val certificate = environment["TLS_CERT"]
    if (certificate == null) {
        connector {
            host = environment.getValue("HOST")
            port = environment.getValue("PORT").toInt()
        }
    } else {
        val keys = keyStore(certificate, environment.getValue("TLS_KEY"))
        sslConnector(keys, KEY_ALIAS, { NO_PASSWORD }, { NO_PASSWORD }) {
            host = environment.getValue("HOST")
            port = environment.getValue("PORT").toInt()
        }
    }
}
