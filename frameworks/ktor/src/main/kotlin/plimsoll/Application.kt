package plimsoll

import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.Application
import io.ktor.server.application.install
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.plugins.defaultheaders.DefaultHeaders
import io.ktor.server.routing.routing
import io.ktor.server.websocket.WebSockets
import io.ktor.server.websocket.webSocket
import kotlinx.serialization.json.Json

private const val LONGEST_MESSAGE = 1L shl 20

/** Ktor's own takes names without quotes. */
private val STRICT_JSON = Json { encodeDefaults = true }

/** The same for both engines. */
fun Application.application(environment: Map<String, String>) {
    install(DefaultHeaders)
    install(ContentNegotiation) { json(STRICT_JSON) }
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
