import NIOCore
import NIOHTTP1

/// Collects a request, has it answered, and closes the connection when the client asks for that.
final class HTTPHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var request: HTTPRequestHead?
    private var body = ByteBuffer()

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            request = head
        case .body(var part):
            body.writeBuffer(&part)
        case .end:
            guard let request else { return }
            write(answer(to: request, body: body), to: request, context: context)
            self.request = nil
            body = ByteBuffer()
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.flush()
    }

    private func write(
        _ response: Response, to request: HTTPRequestHead, context: ChannelHandlerContext
    ) {
        var head = HTTPResponseHead(version: request.version, status: response.status, headers: response.headers)
        head.headers.add(name: "content-length", value: String(response.body.readableBytes))
        if !request.isKeepAlive {
            head.headers.add(name: "connection", value: "close")
        } else if request.version == .http1_0 {
            head.headers.add(name: "connection", value: "keep-alive")
        }

        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            context.write(Self.wrapOutboundOut(.body(.byteBuffer(response.body))), promise: nil)
        }
        let end = Self.wrapOutboundOut(.end(nil))
        if request.isKeepAlive {
            context.write(end, promise: nil)
        } else {
            let loopBound = context.loopBound
            context.writeAndFlush(end).whenComplete { _ in loopBound.value.close(promise: nil) }
        }
    }
}
