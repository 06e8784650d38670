import BigInt
import Foundation
import PerfectHTTP

struct Person: Codable {
    let id: Int
    let firstName: String
    let lastName: String
}

private let letters2048 = [UInt8](repeating: UInt8(ascii: "A"), count: 2048)
private let letters8192 = [UInt8](repeating: UInt8(ascii: "A"), count: 8192)
private let letters32768 = [UInt8](repeating: UInt8(ascii: "A"), count: 32768)
private let hello = [UInt8]("Hello, World!".utf8)

func contract() -> Routes {
    var routes = Routes()
    routes.add(method: .get, uri: "/empty") { _, response in response.completed() }
    routes.add(method: .get, uri: "/2048") { _, response in answer(response, letters2048) }
    routes.add(method: .get, uri: "/8192") { _, response in answer(response, letters8192) }
    routes.add(method: .get, uri: "/32768") { _, response in answer(response, letters32768) }
    routes.add(method: .get, uri: "/plaintext") { _, response in answer(response, hello) }
    routes.add(method: .get, uri: "/getArgs2048") { request, response in
        answer(response, decoded: request.queryParams)
    }
    routes.add(method: .post, uri: "/postArgs2048") { request, response in
        answer(response, decoded: request.postParams)
    }
    routes.add(method: .post, uri: "/postArgsMulti2048") { request, response in
        answer(response, decoded: request.postParams)
    }
    routes.add(method: .get, uri: "/args") { request, response in
        answer(response, [UInt8](checksum(request.queryParams).utf8))
    }
    routes.add(method: .post, uri: "/json", handler: json)
    routes.add(method: .get, uri: "/fibonacci/{n}", handler: fibonacci)
    return routes
}

private func json(_ request: HTTPRequest, _ response: HTTPResponse) {
    do {
        let person = try request.decode(Person.self)
        try response.setBody(json: person).completed()
    } catch {
        response.completed(status: .badRequest)
    }
}

private func fibonacci(_ request: HTTPRequest, _ response: HTTPResponse) {
    guard let n = request.urlVariables["n"].flatMap({ UInt16($0) }) else {
        return response.completed(status: .badRequest)
    }
    answer(response, [UInt8](String(fib(n)).utf8))
}

/// The CRC-32 of the values by rising name, each followed by a line feed.
private func checksum(_ arguments: [(String, String)]) -> String {
    var crc = CRC32()
    for (_, value) in arguments.sorted(by: { $0.0 < $1.0 }) {
        crc.update(value)
        crc.update("\n")
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

private func answer(_ response: HTTPResponse, _ body: [UInt8]) {
    response.setHeader(.contentType, value: "text/plain").setBody(bytes: body).completed()
}

/// Visits every decoded value and says how many bytes they have together.
private func answer(_ response: HTTPResponse, decoded arguments: [(String, String)]) {
    let bytes = arguments.reduce(0) { $0 + $1.1.utf8.count }
    response.addHeader(.custom(name: "decoded-bytes"), value: String(bytes))
    answer(response, letters2048)
}
