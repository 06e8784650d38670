package plimsoll

import io.ktor.server.cio.CIO
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer

private const val HOUR_S = 3600

/** Serves by CIO, Ktor's own engine of coroutines: HTTP/1.1 without TLS. */
fun main() {
    val environment = System.getenv()
    embeddedServer(CIO, configure = {
        // CIO's own limit is 45 seconds of silence.
        connectionIdleTimeoutSeconds = HOUR_S
        connector {
            host = environment.getValue("HOST")
            port = environment.getValue("PORT").toInt()
        }
    }) { application(environment) }.start(wait = true)
}
