import Foundation
import JWT
import Vapor

private let numberOfRoutes = 1000
private let mostEvents = 100
private let eventInterval = Duration.milliseconds(10)
private let largestFrame = WebSocketMaxFrameSize(integerLiteral: 1 << 20)

private struct Claims: JWTPayload {
    let sub: SubjectClaim
    let exp: ExpirationClaim

    func verify(using _: some JWTAlgorithm) throws {
        try exp.verifyNotExpired()
    }
}

private struct UpstreamValue: Content {
    let value: Int
}

private struct Doubled: Content {
    let id: Int
    let doubled: Int
}

/// What web applications do besides: many routes, large bodies, tokens, calls of another service, events.
func web(_ app: Application) {
    for k in 0..<numberOfRoutes {
        app.get("r", "\(k)", "x", ":id") { request async throws in
            text(ByteBuffer(string: "\(k):\(try request.parameters.require("id"))"))
        }
    }
    app.on(.POST, "upload", body: .stream) { request async throws in
        text(ByteBuffer(string: String(try await checksum(request.body))))
    }
    app.post("json-in") { request async throws in
        guard let body = request.body.data,
            let document = try? JSONSerialization.jsonObject(with: Data(buffer: body))
        else { throw Abort(.badRequest) }
        return text(ByteBuffer(string: String(sum(document))))
    }
    app.get("auth") { request async throws in
        guard let claims = try? await request.jwt.verify(as: Claims.self) else {
            throw Abort(.unauthorized)
        }
        return text(ByteBuffer(string: claims.sub.value))
    }
    let upstream = Environment.get("UPSTREAM_URL") ?? ""
    app.get("up", ":id") { request async throws in
        let id = try request.parameters.require("id", as: Int.self)
        return Doubled(id: id, doubled: 2 * (try await value(of: id, from: upstream, request.client)))
    }
    app.get("stream", ":n") { request async throws in
        guard let n = request.parameters.get("n", as: Int.self), 1...mostEvents ~= n else {
            throw Abort(.notFound)
        }
        return events(n)
    }
    // Callbacks of the event loop keep the order of messages, which those with `await` do not.
    app.webSocket("echo", maxFrameSize: largestFrame) { _, socket in
        socket.onText { socket, message in socket.send(message, promise: nil) }
        socket.onBinary { socket, message in socket.send(message, opcode: .binary, promise: nil) }
    }
}

/// The CRC-32 of a body of any length, which is never in memory as a whole.
private func checksum(_ body: Request.Body) async throws -> UInt32 {
    var crc = CRC32()
    for try await piece in body {
        piece.withUnsafeReadableBytes { crc.update($0) }
    }
    return crc.value
}

/// The sum of all members named `value`.
private func sum(_ document: Any) -> Int {
    switch document {
    case let members as [String: Any]:
        members.reduce(0) { $0 &+ ($1.key == "value" ? number($1.value) : sum($1.value)) }
    case let elements as [Any]:
        elements.reduce(0) { $0 &+ sum($1) }
    default:
        0
    }
}

private func number(_ member: Any) -> Int {
    (member as? NSNumber)?.intValue ?? sum(member)
}

private func value(of id: Int, from upstream: String, _ client: any Client) async throws -> Int {
    do {
        let response = try await client.get("\(upstream)/value/\(id)")
        guard response.status == .ok else { throw Abort(.badGateway) }
        return try response.content.decode(UpstreamValue.self).value
    } catch {
        throw Abort(.badGateway, reason: "\(error)")
    }
}

/// Sends n events, each when it is due.
private func events(_ n: Int) -> Response {
    Response(
        headers: ["Content-Type": "text/event-stream", "Cache-Control": "no-cache"],
        body: .init(managedAsyncStream: { writer in
            let start = ContinuousClock.now
            for i in 0..<n {
                try await Task.sleep(until: start + eventInterval * i, clock: .continuous)
                try await writer.writeBuffer(ByteBuffer(string: "data: \(i)\n\n"))
            }
        })
    )
}
