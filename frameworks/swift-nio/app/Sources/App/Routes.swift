import BigInt
import Foundation
import MultipartKit
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// What is sent back; the handler adds `content-length`.
struct Response {
    var status = HTTPResponseStatus.ok
    var headers = HTTPHeaders()
    var body = ByteBuffer()

    static let notFound = Response(status: .notFound)
    static let badRequest = Response(status: .badRequest)

    static func text(_ body: ByteBuffer) -> Response {
        Response(headers: ["content-type": "text/plain"], body: body)
    }
}

struct Person: Codable {
    let id: Int
    let firstName: String
    let lastName: String
}

private let letters2048 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 2048)
private let letters8192 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 8192)
private let letters32768 = ByteBuffer(repeating: UInt8(ascii: "A"), count: 32768)
private let hello = ByteBuffer(string: "Hello, World!")

func answer(to request: HTTPRequestHead, body: ByteBuffer) -> Response {
    let path = request.uri.prefix { $0 != "?" }
    switch (request.method, path) {
    case (.GET, "/empty"): return Response()
    case (.GET, "/2048"): return .text(letters2048)
    case (.GET, "/8192"): return .text(letters8192)
    case (.GET, "/32768"): return .text(letters32768)
    case (.GET, "/plaintext"): return .text(hello)
    case (.GET, "/getArgs2048"): return getArgs(request)
    case (.POST, "/postArgs2048"): return postArgs(body)
    case (.POST, "/postArgsMulti2048"): return postArgsMulti(request, body)
    case (.GET, "/args"): return checksum(request)
    case (.POST, "/json"): return json(body)
    case (.GET, _) where path.hasPrefix("/fibonacci/"): return fibonacci(path.dropFirst("/fibonacci/".count))
    default: return .notFound
    }
}

private func getArgs(_ request: HTTPRequestHead) -> Response {
    decoded(values(ofQuery: query(of: request)))
}

private func postArgs(_ body: ByteBuffer) -> Response {
    decoded(values(ofQuery: Substring(String(buffer: body))))
}

private func postArgsMulti(_ request: HTTPRequestHead, _ body: ByteBuffer) -> Response {
    guard let boundary = boundary(in: request.headers) else { return .badRequest }
    let arguments = try? FormDataDecoder().decode([String: String].self, from: body, boundary: boundary)
    return decoded(arguments.map { Array($0.values) })
}

/// Answers with the CRC-32 of the values by rising name, each followed by a line feed.
private func checksum(_ request: HTTPRequestHead) -> Response {
    guard let arguments = arguments(ofQuery: query(of: request)) else { return .badRequest }
    var crc = CRC32()
    for argument in arguments.sorted(by: { $0.name < $1.name }) {
        crc.update(argument.value ?? "")
        crc.update("\n")
    }
    return .text(ByteBuffer(string: String(crc.value)))
}

private func json(_ body: ByteBuffer) -> Response {
    guard let person = try? JSONDecoder().decode(Person.self, from: body),
        let encoded = try? JSONEncoder().encodeAsByteBuffer(person, allocator: ByteBufferAllocator())
    else { return .badRequest }
    return Response(headers: ["content-type": "application/json"], body: encoded)
}

private func fibonacci(_ n: Substring) -> Response {
    guard let n = UInt16(n) else { return .badRequest }
    return .text(ByteBuffer(string: String(fib(n))))
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

private func query(of request: HTTPRequestHead) -> Substring {
    request.uri.drop { $0 != "?" }.dropFirst()
}

private func values(ofQuery query: Substring) -> [String]? {
    arguments(ofQuery: query)?.map { $0.value ?? "" }
}

/// Arguments as a form encodes them: Foundation decodes all of it but `+`.
private func arguments(ofQuery query: Substring) -> [URLQueryItem]? {
    let encoded = query.replacing("+", with: "%20")
    return URLComponents(string: "?" + encoded)?.queryItems
}

private func boundary(in headers: HTTPHeaders) -> String? {
    let parameters = headers.first(name: "content-type")?.split(separator: ";").dropFirst() ?? []
    for parameter in parameters {
        let pair = parameter.split(separator: "=", maxSplits: 1)
        if pair.count == 2, pair[0].trimmingCharacters(in: .whitespaces).lowercased() == "boundary" {
            return pair[1].trimmingCharacters(in: CharacterSet(charactersIn: " \""))
        }
    }
    return nil
}

/// Visits every decoded value and says how many bytes they have together.
private func decoded(_ values: [String]?) -> Response {
    guard let values else { return .badRequest }
    var response = Response.text(letters2048)
    response.headers.add(name: "decoded-bytes", value: String(values.reduce(0) { $0 + $1.utf8.count }))
    return response
}
