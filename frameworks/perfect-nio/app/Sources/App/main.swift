// Serves Plimsoll's contract with Perfect-NIO.

import Dispatch
import Foundation
import PerfectNIO

let environment = ProcessInfo.processInfo.environment
let address = try SocketAddress(
    ipAddress: environment["HOST"] ?? "127.0.0.1",
    port: environment["PORT"].flatMap { Int($0) } ?? 8080
)
// More than one: each accepts on a socket of its own (SO_REUSEPORT) and serves what it has accepted.
// One: it hands what it has accepted to as many event loops as there are cores.
let acceptors = environment["ACCEPTORS"].flatMap { Int($0) } ?? 1
let listening = try contract().bind(count: acceptors, address: address).map { try $0.listen() }

signal(SIGTERM, SIG_IGN)
let terminated = DispatchSource.makeSignalSource(signal: SIGTERM, queue: .global())
terminated.setEventHandler { listening.forEach { $0.stop() } }
terminated.resume()

try listening.forEach { try $0.wait() }
