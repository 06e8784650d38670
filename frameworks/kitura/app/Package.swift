// swift-tools-version:5.9
import PackageDescription

let package = Package(
    name: "plimsoll-kitura",
    dependencies: [
        .package(url: "https://github.com/Kitura/Kitura.git", exact: "3.0.1"),
        .package(url: "https://github.com/Kitura/Kitura-NIO.git", exact: "3.1.1"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.86.2"),
        .package(url: "https://github.com/attaswift/BigInt.git", exact: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "Kitura", package: "Kitura"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "BigInt", package: "BigInt"),
            ]
        )
    ]
)
