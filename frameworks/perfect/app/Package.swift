// swift-tools-version:5.9
import PackageDescription

let package = Package(
    name: "plimsoll-perfect",
    dependencies: [
        .package(url: "https://github.com/PerfectlySoft/Perfect-HTTPServer.git", exact: "3.0.23"),
        .package(url: "https://github.com/PerfectlySoft/Perfect-HTTP.git", exact: "3.3.0"),
        .package(url: "https://github.com/PerfectlySoft/Perfect-Net.git", exact: "3.3.0"),
        .package(url: "https://github.com/attaswift/BigInt.git", exact: "5.7.0"),
    ],
    targets: [
        .executableTarget(
            name: "App",
            dependencies: [
                .product(name: "PerfectHTTP", package: "Perfect-HTTP"),
                .product(name: "PerfectHTTPServer", package: "Perfect-HTTPServer"),
                .product(name: "BigInt", package: "BigInt"),
            ]
        )
    ]
)
