import AsyncHTTPClient
import Hummingbird
import Logging
import NIOCore

/// Serves Plimsoll's contract with Hummingbird.
@main
struct App {
    static func main() async throws {
        let environment = Environment()
        if let workers = environment.get("WORKERS", as: Int.self) {
            NIOSingletons.groupLoopCountSuggestion = workers
        }
        var logger = Logger(label: "app") { StreamLogHandler.standardError(label: $0) }
        logger.logLevel = .error

        let keys = await tokenKeys(environment)
        try await HTTPClient.withHTTPClient(configuration: Upstream.configuration) { client in
            let application = Application(
                router: try buildRouter(environment, client: client, keys: keys, logger: logger),
                server: server(environment),
                configuration: .init(
                    address: .hostname(
                        environment.get("HOST") ?? "127.0.0.1",
                        port: environment.get("PORT", as: Int.self) ?? 8080
                    ),
                    backlog: 4096
                ),
                logger: logger
            )
            try await application.runService()
        }
    }
}
