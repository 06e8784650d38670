import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import NIOFoundationCompat

private let numberOfRoutes = 1000
private let mostEvents = 100
private let eventInterval = Duration.milliseconds(10)

/// What web applications do besides: many routes, large bodies, events.
func addWeb(to router: Router<AppRequestContext>) {
    for k in 0..<numberOfRoutes {
        router.get("r/\(k)/x/{id}") { _, context in
            text(ByteBuffer(string: "\(k):\(try context.parameters.require("id"))"))
        }
    }
    router.post("upload") { request, _ in
        text(ByteBuffer(string: String(try await checksum(request.body))))
    }
    router.post("json-in") { request, context in
        let body = try await request.body.collect(upTo: context.maxUploadSize)
        guard let document = try? JSONSerialization.jsonObject(with: Data(buffer: body)) else {
            throw HTTPError(.badRequest)
        }
        return text(ByteBuffer(string: String(sum(document))))
    }
    router.get("stream/{n}") { _, context in
        guard let n = context.parameters.get("n", as: Int.self), 1...mostEvents ~= n else {
            throw HTTPError(.notFound)
        }
        return events(n)
    }
}

/// The CRC-32 of a body of any length, which is never in memory as a whole.
private func checksum(_ body: RequestBody) async throws -> UInt32 {
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

/// Sends n events, each when it is due.
private func events(_ n: Int) -> Response {
    Response(
        status: .ok,
        headers: [.contentType: "text/event-stream", .cacheControl: "no-cache"],
        body: .init { writer in
            let start = ContinuousClock.now
            for i in 0..<n {
                try await Task.sleep(until: start + eventInterval * i, clock: .continuous)
                try await writer.write(ByteBuffer(string: "data: \(i)\n\n"))
            }
            try await writer.finish(nil)
        }
    )
}
