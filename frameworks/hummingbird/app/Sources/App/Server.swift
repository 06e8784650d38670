import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdWebSocket

private let mostBytes = 1 << 20

/// HTTP/1.1 and WebSocket, or HTTP/2 if that is what clients speak.
func server(_ environment: Environment) -> HTTPServerBuilder {
    environment.get("PROTOCOL") == "http2" ? .plaintextHTTP2() : http1()
}

private func http1() -> HTTPServerBuilder {
    let sockets = Router(context: BasicWebSocketRequestContext.self)
    sockets.ws("echo") { inbound, outbound, _ in
        for try await message in inbound.messages(maxSize: mostBytes) {
            switch message {
            case .text(let text): try await outbound.write(.text(text))
            case .binary(let bytes): try await outbound.write(.binary(bytes))
            }
        }
    }
    return .http1WebSocketUpgrade(
        webSocketRouter: sockets, configuration: .init(maxFrameSize: mostBytes)
    )
}
