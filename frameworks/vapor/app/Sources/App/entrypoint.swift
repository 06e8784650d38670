import Logging
import NIOCore
import NIOPosix
import Vapor

/// Serves Plimsoll's contract with Vapor.
@main
enum Entrypoint {
    static func main() async throws {
        if let workers = Environment.get("WORKERS").flatMap(Int.init) {
            NIOSingletons.groupLoopCountSuggestion = workers
        }
        let environment = try Environment.detect()
        LoggingSystem.bootstrap { label in
            var handler = StreamLogHandler.standardError(label: label)
            handler.logLevel = .error
            return handler
        }

        let app = try await Application.make(environment)
        do {
            try await configure(app)
            try await app.execute()
        } catch {
            app.logger.report(error: error)
            try? await app.asyncShutdown()
            throw error
        }
        try await app.asyncShutdown()
    }
}
