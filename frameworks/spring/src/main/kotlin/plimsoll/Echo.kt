package plimsoll

import org.springframework.context.annotation.Bean
import org.springframework.context.annotation.Configuration
import org.springframework.web.socket.BinaryMessage
import org.springframework.web.socket.TextMessage
import org.springframework.web.socket.WebSocketSession
import org.springframework.web.socket.config.annotation.EnableWebSocket
import org.springframework.web.socket.config.annotation.WebSocketConfigurer
import org.springframework.web.socket.config.annotation.WebSocketHandlerRegistry
import org.springframework.web.socket.handler.AbstractWebSocketHandler
import org.springframework.web.socket.server.standard.ServletServerContainerFactoryBean

/** The longest message; Tomcat's default is 8 KiB. */
private const val LONGEST_MESSAGE = 1 shl 20

/** Returns every message as it came; Tomcat answers pings and close frames. */
class EchoHandler : AbstractWebSocketHandler() {

    override fun handleTextMessage(session: WebSocketSession, message: TextMessage) =
        session.sendMessage(message)

    override fun handleBinaryMessage(session: WebSocketSession, message: BinaryMessage) =
        session.sendMessage(message)
}

@Configuration
@EnableWebSocket
class EchoConfiguration : WebSocketConfigurer {

    override fun registerWebSocketHandlers(registry: WebSocketHandlerRegistry) {
        registry.addHandler(EchoHandler(), "/echo")
    }

    @Bean
    fun webSocketContainer() = ServletServerContainerFactoryBean().apply {
        setMaxTextMessageBufferSize(LONGEST_MESSAGE)
        setMaxBinaryMessageBufferSize(LONGEST_MESSAGE)
    }
}
