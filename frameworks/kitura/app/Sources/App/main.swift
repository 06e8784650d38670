// Serves Plimsoll's contract with Kitura.

import Dispatch
import Foundation
import Kitura
import NIOPosix

let environment = ProcessInfo.processInfo.environment
let server = Kitura.addHTTPServer(
    onPort: environment["PORT"].flatMap(Int.init) ?? 8080,
    onAddress: environment["HOST"] ?? "127.0.0.1",
    with: router(),
    // The limit counts requests as connections: with the one it starts with, 10,000, all later ones are refused.
    options: ServerOptions(connectionLimit: nil)
)
if let workers = environment["WORKERS"].flatMap(Int.init) {
    try server.setEventLoopGroup(MultiThreadedEventLoopGroup(numberOfThreads: workers))
}

signal(SIGTERM, SIG_IGN)
let terminated = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
terminated.setEventHandler { Kitura.stop() }
terminated.resume()

Kitura.run()
