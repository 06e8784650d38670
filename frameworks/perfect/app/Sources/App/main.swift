// Serves Plimsoll's contract with Perfect 3.

import Dispatch
import Foundation
import PerfectHTTPServer

let environment = ProcessInfo.processInfo.environment
let server = HTTPServer()
server.serverAddress = environment["HOST"] ?? "127.0.0.1"
server.serverPort = environment["PORT"].flatMap { UInt16($0) } ?? 8080
server.addRoutes(contract())

// `start` waits in accept(2), which a socket that is closed does not end.
signal(SIGTERM, SIG_IGN)
let terminated = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
terminated.setEventHandler {
    server.stop()
    exit(0)
}
terminated.resume()

try server.start()
