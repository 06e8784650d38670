import BigInt
import Foundation
import PerfectNIO

struct Person: Codable {
    let id: Int
    let firstName: String
    let lastName: String
}

private let letters2048 = [UInt8](repeating: UInt8(ascii: "A"), count: 2048)
private let letters8192 = [UInt8](repeating: UInt8(ascii: "A"), count: 8192)
private let letters32768 = [UInt8](repeating: UInt8(ascii: "A"), count: 32768)
private let hello = [UInt8]("Hello, World!".utf8)

func contract() throws -> Routes<HTTPRequest, HTTPOutput> {
    return try root().dir(
        root().GET.path("empty") { BytesOutput(body: []) as HTTPOutput },
        root().GET.path("2048") { text(letters2048) },
        root().GET.path("8192") { text(letters8192) },
        root().GET.path("32768") { text(letters32768) },
        root().GET.path("plaintext") { text(hello) },
        root().GET.path("getArgs2048") { (request: HTTPRequest) in decoded(sizes(request.searchArgs)) },
        root().POST.path("postArgs2048").readBody(formArgs),
        root().POST.path("postArgsMulti2048").readBody(multipartArgs),
        root().GET.path("args") { (request: HTTPRequest) in text(checksum(request.searchArgs)) },
        root().POST.path("json").readBody(json),
        root().GET.path("fibonacci").wild(fibonacci)
    )
}

private func formArgs(_: HTTPRequest, _ content: HTTPRequestContentType) throws -> HTTPOutput {
    guard case .urlForm(let form) = content else {
        throw ErrorOutput(status: .badRequest)
    }
    return decoded(sizes(form))
}

private func multipartArgs(_: HTTPRequest, _ content: HTTPRequestContentType) throws -> HTTPOutput {
    guard case .multiPartForm(let reader) = content else {
        throw ErrorOutput(status: .badRequest)
    }
    return decoded(reader.bodySpecs.map { $0.fieldValue.utf8.count })
}

/// The route's own `decode` answers 500 to what it cannot decode.
private func json(_ request: HTTPRequest, _ content: HTTPRequestContentType) throws -> HTTPOutput {
    guard case .other = content, let person = try? request.decode(Person.self, content: content) else {
        throw ErrorOutput(status: .badRequest)
    }
    return try JSONOutput(person)
}

private func fibonacci(_: HTTPRequest, _ n: String) throws -> HTTPOutput {
    guard let n = UInt16(n) else {
        throw ErrorOutput(status: .badRequest)
    }
    return text([UInt8](String(fib(n)).utf8))
}

/// The CRC-32 of the values by rising name, each followed by a line feed.
private func checksum(_ arguments: QueryDecoder?) -> [UInt8] {
    let pairs: [(String, String)] = arguments?.map { $0 } ?? []
    var crc = CRC32()
    for (_, value) in pairs.sorted(by: { $0.0 < $1.0 }) {
        crc.update(value)
        crc.update("\n")
    }
    return [UInt8](String(crc.value).utf8)
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

private func sizes(_ arguments: QueryDecoder?) -> [Int] {
    return arguments?.map { $0.1.utf8.count } ?? []
}

private func text(_ body: [UInt8], _ headers: [(String, String)] = []) -> HTTPOutput {
    let headers = HTTPHeaders([("Content-Type", "text/plain")] + headers)
    return BytesOutput(head: HTTPHead(headers: headers), body: body)
}

/// Says how many bytes the decoded values of the arguments have together.
private func decoded(_ bytes: [Int]) -> HTTPOutput {
    return text(letters2048, [("decoded-bytes", String(bytes.reduce(0, +)))])
}
