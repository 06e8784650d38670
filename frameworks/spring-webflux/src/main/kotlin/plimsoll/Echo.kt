package plimsoll

import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.web.reactive.config.WebFluxConfigurer
import org.springframework.web.reactive.handler.SimpleUrlHandlerMapping
import org.springframework.web.reactive.socket.WebSocketHandler
import org.springframework.web.reactive.socket.WebSocketMessage
import org.springframework.web.reactive.socket.server.WebSocketService
import org.springframework.web.reactive.socket.server.support.HandshakeWebSocketService
import org.springframework.web.reactive.socket.server.upgrade.ReactorNettyRequestUpgradeStrategy
import reactor.netty.http.server.WebsocketServerSpec

/** The longest message; Reactor Netty's default is 64 KiB. */
private const val LONGEST_MESSAGE = 1 shl 20

/** Behind annotated controllers, whose order is 0. */
private const val ORDER = 1

@Configuration
class EchoConfiguration : WebFluxConfigurer {

    /** Returns every message as it came; Reactor Netty answers pings and close frames. */
    @Bean
    fun echo() = SimpleUrlHandlerMapping(
        mapOf(
            "/echo" to WebSocketHandler { session ->
                session.send(session.receive().doOnNext(WebSocketMessage::retain))
            },
        ),
        ORDER,
    )

    override fun getWebSocketService(): WebSocketService =
        HandshakeWebSocketService(
            ReactorNettyRequestUpgradeStrategy {
                WebsocketServerSpec.builder().maxFramePayloadLength(LONGEST_MESSAGE)
            },
        )
}
