import JWT
import Vapor

func configure(_ app: Application) async throws {
    app.http.server.configuration.backlog = 4096
    app.routes.defaultMaxBodySize = "1mb"
    // As many connections to the upstream are kept as there are calls at a time; the default is 8.
    app.http.client.configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 1024
    let key = HMACKey(from: Environment.get("AUTH_KEY") ?? "")
    await app.jwt.keys.add(hmac: key, digestAlgorithm: .sha256)
    try routes(app)
}
