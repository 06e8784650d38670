import AsyncHTTPClient
import BigInt
import HTTPTypes
import Hummingbird
import JWTKit
import Logging
import NIOCore

struct Person: ResponseCodable {
    let id: Int
    let firstName: String
    let lastName: String
}

private let letters2048 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 2048)
private let letters8192 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 8192)
private let letters32768 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 32768)
private let hello = ByteBuffer(string: "Hello, World!")

func buildRouter(
    _ environment: Environment, client: HTTPClient, keys: JWTKeyCollection, logger: Logger
) throws -> Router<AppRequestContext> {
    let router = Router(context: AppRequestContext.self)
    router.get("empty") { _, _ in HTTPResponse.Status.ok }
    router.get("2048") { _, _ in text(letters2048) }
    router.get("8192") { _, _ in text(letters8192) }
    router.get("32768") { _, _ in text(letters32768) }
    router.get("plaintext") { _, _ in text(hello) }
    router.get("getArgs2048") { request, context in
        decoded(try request.uri.decodeQuery(as: [String: String].self, context: context))
    }
    router.post("postArgs2048") { request, context in
        decoded(try await request.decode(as: [String: String].self, context: context))
    }
    router.post("postArgsMulti2048") { request, context in
        decoded(try await request.decode(as: [String: String].self, context: context))
    }
    router.get("args") { request, context in
        let arguments = try request.uri.decodeQuery(as: [String: String].self, context: context)
        return text(ByteBuffer(string: checksum(arguments)))
    }
    router.post("json") { request, context in
        try await request.decode(as: Person.self, context: context)
    }
    router.get("fibonacci/{n}") { _, context in
        text(ByteBuffer(string: String(fib(try context.parameters.require("n", as: UInt16.self)))))
    }
    addWeb(to: router)
    addUpstream(to: router, environment, client: client)
    addTokens(to: router, keys: keys)
    if let files = environment.get("FILES") {
        try addFiles(to: router, folder: files, logger: logger)
    }
    return router
}

/// The CRC-32 of the values by rising name, each followed by a line feed.
private func checksum(_ arguments: [String: String]) -> String {
    var crc = CRC32()
    for (_, value) in arguments.sorted(by: { $0.key < $1.key }) {
        crc.update(value.utf8)
        crc.update("\n".utf8)
    }
    return String(crc.value)
}

/// Adds n - 1 times.
private func fib(_ n: UInt16) -> BigUInt {
    if n == 0 { return 0 }
    var (a, b): (BigUInt, BigUInt) = (0, 1)
    for _ in 1..<n {
        a += b
        swap(&a, &b)
    }
    return b
}

func text(_ body: ByteBuffer) -> Response {
    Response(status: .ok, headers: [.contentType: "text/plain"], body: .init(byteBuffer: body))
}

/// Visits every decoded value and says how many bytes they have together.
private func decoded(_ arguments: [String: String]) -> Response {
    var response = text(letters2048)
    response.headers[.decodedBytes] = String(arguments.values.reduce(0) { $0 + $1.utf8.count })
    return response
}

extension HTTPField.Name {
    static let decodedBytes = Self("decoded-bytes")!
}
