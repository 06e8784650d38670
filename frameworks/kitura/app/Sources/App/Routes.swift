import BigInt
import Foundation
import Kitura

struct Person: Codable {
    let id: Int
    let firstName: String
    let lastName: String
}

private let letters2048 = Data(repeating: UInt8(ascii: "A"), count: 2048)
private let letters8192 = Data(repeating: UInt8(ascii: "A"), count: 8192)
private let letters32768 = Data(repeating: UInt8(ascii: "A"), count: 32768)
private let hello = Data("Hello, World!".utf8)

func router() -> Router {
    let router = Router()
    router.get("/empty") { _, response, next in
        response.status(.OK)
        next()
    }
    router.get("/2048", handler: constant(letters2048))
    router.get("/8192", handler: constant(letters8192))
    router.get("/32768", handler: constant(letters32768))
    router.get("/plaintext", handler: constant(hello))
    router.get("/getArgs2048") { request, response, next in
        decoded(request.queryParameters.values.map(\.utf8.count), response)
        next()
    }
    router.post("/postArgs2048", middleware: BodyParser())
    router.post("/postArgs2048") { request, response, next in
        decoded(request.body?.asURLEncoded?.values.map(\.utf8.count), response)
        next()
    }
    router.post("/postArgsMulti2048", middleware: BodyParser())
    router.post("/postArgsMulti2048") { request, response, next in
        decoded(request.body?.asMultiPart?.map { size(of: $0.body) }, response)
        next()
    }
    router.get("/args") { request, response, next in
        response.headers["Content-Type"] = "text/plain"
        response.send(checksum(request.queryParameters))
        next()
    }
    router.post("/json") { request, response, next in
        do {
            response.send(json: try request.read(as: Person.self))
        } catch {
            response.status(.badRequest)
        }
        next()
    }
    router.get("/fibonacci/:n") { request, response, next in
        if let n = request.parameters["n"].flatMap(UInt16.init) {
            response.headers["Content-Type"] = "text/plain"
            response.send(String(fib(n)))
        } else {
            response.status(.badRequest)
        }
        next()
    }
    return router
}

private func constant(_ body: Data) -> RouterHandler {
    { _, response, next in
        response.headers["Content-Type"] = "text/plain"
        response.send(data: body)
        next()
    }
}

/// The CRC-32 of the values by rising name, each followed by a line feed.
private func checksum(_ arguments: [String: String]) -> String {
    var crc = CRC32()
    for (_, value) in arguments.sorted(by: { $0.key < $1.key }) {
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

/// Says how many bytes the decoded values of the arguments have together.
private func decoded(_ bytes: [Int]?, _ response: RouterResponse) {
    guard let bytes else {
        response.status(.badRequest)
        return
    }
    response.headers["decoded-bytes"] = String(bytes.reduce(0, +))
    response.headers["Content-Type"] = "text/plain"
    response.send(data: letters2048)
}

private func size(of part: ParsedBody) -> Int {
    part.asText?.utf8.count ?? part.asRaw?.count ?? 0
}
