// swift-tools-version:6.0
import PackageDescription

let package = Package(
    name: "plimsoll-vapor",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(url: "https://github.com/vapor/vapor.git", exact: "4.122.0"),
        .package(url: "https://github.com/vapor/jwt.git", exact: "5.1.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.97.1"),
        .package(url: "https://github.com/attaswift/BigInt.git", exact: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Vapor", package: "vapor"),
                .product(name: "JWT", package: "jwt"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "BigInt", package: "BigInt"),
            ]
        )
    ]
)
