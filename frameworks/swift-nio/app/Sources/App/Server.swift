import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Serves Plimsoll's contract with SwiftNIO and nothing above it.
@main
struct Server {
    static func main() throws {
        let environment = ProcessInfo.processInfo.environment
        let workers = environment["WORKERS"].flatMap(Int.init) ?? System.coreCount
        let group = MultiThreadedEventLoopGroup(numberOfThreads: workers)

        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withErrorHandling: true)
                    try pipeline.addHandler(HTTPHandler())
                }
            }

        let listener = try bootstrap.bind(
            host: environment["HOST"] ?? "127.0.0.1",
            port: environment["PORT"].flatMap(Int.init) ?? 8080
        ).wait()
        let terminated = whenTerminated { listener.close(promise: nil) }
        try listener.closeFuture.wait()
        // Every handler answers within one turn of its event loop: none is interrupted here.
        try group.syncShutdownGracefully()
        terminated.cancel()
    }

    private static func whenTerminated(_ stop: @escaping @Sendable () -> Void) -> DispatchSourceSignal {
        signal(SIGTERM, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
        source.setEventHandler(handler: stop)
        source.resume()
        return source
    }
}
