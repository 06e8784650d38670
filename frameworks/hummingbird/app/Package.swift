// swift-tools-version:6.0
import PackageDescription

let package = Package(
    name: "plimsoll-hummingbird",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.21.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird-websocket.git", exact: "2.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.33.1"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.97.1"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.3.0"),
        .package(url: "https://github.com/vapor/multipart-kit.git", exact: "4.7.1"),
        .package(url: "https://github.com/attaswift/BigInt.git", exact: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HummingbirdWebSocket", package: "hummingbird-websocket"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "JWTKit", package: "jwt-kit"),
                .product(name: "MultipartKit", package: "multipart-kit"),
                .product(name: "BigInt", package: "BigInt"),
            ]
        )
    ]
)
