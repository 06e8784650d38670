import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOFoundationCompat

struct Doubled: ResponseEncodable {
    let id: Int
    let doubled: Int
}

/// Another service, which is asked by Swift's usual client.
struct Upstream: Sendable {
    private static let mostBytes = 1024
    private static let timeout = TimeAmount.seconds(5)

    /// As many connections are kept as there are calls at a time; the default is 8.
    static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
        return configuration
    }

    let client: HTTPClient
    let address: String

    func value(of id: Int) async throws -> Int {
        struct Found: Decodable {
            let value: Int
        }
        let request = HTTPClientRequest(url: "\(address)/value/\(id)")
        let response = try await client.execute(request, timeout: Self.timeout)
        guard response.status == .ok else { throw HTTPError(.badGateway) }
        let body = try await response.body.collect(upTo: Self.mostBytes)
        return try JSONDecoder().decode(Found.self, from: body).value
    }
}

func addUpstream(
    to router: Router<AppRequestContext>, _ environment: Environment, client: HTTPClient
) {
    let upstream = Upstream(client: client, address: environment.get("UPSTREAM_URL") ?? "")
    router.get("up/{id}") { _, context in
        let id = try context.parameters.require("id", as: Int.self)
        do {
            return Doubled(id: id, doubled: 2 * (try await upstream.value(of: id)))
        } catch {
            context.logger.error("\(error)")
            throw HTTPError(.badGateway)
        }
    }
}
