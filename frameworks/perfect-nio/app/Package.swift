// swift-tools-version:5.9
import PackageDescription

let package = Package(
    name: "plimsoll-perfect-nio",
    platforms: [.macOS(.v10_15)],
    dependencies: [
        // There are no versions of it.
        .package(
            url: "https://github.com/PerfectlySoft/Perfect-NIO.git",
            revision: "5858d2aafaa329f6f6e1ba0f877dacbcedf1deb8"
        ),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.86.2"),
        .package(url: "https://github.com/attaswift/BigInt.git", exact: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "PerfectNIO", package: "Perfect-NIO"),
                .product(name: "BigInt", package: "BigInt"),
            ]
        )
    ]
)
