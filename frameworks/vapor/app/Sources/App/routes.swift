import BigInt
import Vapor

struct Person: Content {
    let id: Int
    let firstName: String
    let lastName: String
}

private let letters2048 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 2048)
private let letters8192 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 8192)
private let letters32768 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 32768)
private let hello = ByteBuffer(string: "Hello, World!")

func routes(_ app: Application) throws {
    app.get("empty") { _ async in HTTPStatus.ok }
    app.get("2048") { _ async in text(letters2048) }
    app.get("8192") { _ async in text(letters8192) }
    app.get("32768") { _ async in text(letters32768) }
    app.get("plaintext") { _ async in text(hello) }
    app.get("getArgs2048") { request async throws in
        decoded(try request.query.decode([String: String].self))
    }
    app.post("postArgs2048") { request async throws in
        decoded(try request.content.decode([String: String].self))
    }
    app.post("postArgsMulti2048") { request async throws in
        decoded(try request.content.decode([String: String].self))
    }
    app.get("args") { request async throws in
        text(ByteBuffer(string: checksum(try request.query.decode([String: String].self))))
    }
    app.post("json") { request async throws in
        try request.content.decode(Person.self)
    }
    app.get("fibonacci", ":n") { request async throws in
        text(ByteBuffer(string: String(fib(try request.parameters.require("n", as: UInt16.self)))))
    }
    web(app)
    if let files = Environment.get("FILES") {
        try items(app, folder: files)
    }
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
    Response(headers: ["Content-Type": "text/plain"], body: .init(buffer: body))
}

/// Visits every decoded value and says how many bytes they have together.
private func decoded(_ arguments: [String: String]) -> Response {
    let response = text(letters2048)
    let bytes = arguments.values.reduce(0) { $0 + $1.utf8.count }
    response.headers.add(name: "decoded-bytes", value: String(bytes))
    return response
}
