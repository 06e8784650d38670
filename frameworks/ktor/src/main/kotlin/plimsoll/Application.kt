package plimsoll

import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.plugins.defaultheaders.DefaultHeaders
import io.ktor.server.routing.routing
import io.ktor.server.websocket.WebSockets
import io.ktor.server.websocket.webSocket

private const val LONGEST_MESSAGE = 1L shl 20

/** The same for both engines. */
fun Application.application(environment: Map<String, String>) {
    install(DefaultHeaders)
    install(ContentNegotiation) { json() }
    install(WebSockets) { maxFrameSize = LONGEST_MESSAGE }
    routing {
        contract()
        database(environment)
        web(environment)
        // Returns every message as it came; Ktor answers pings and close frames.
        webSocket("/echo") {
            for (message in incoming) send(message)
        }
    }
}
