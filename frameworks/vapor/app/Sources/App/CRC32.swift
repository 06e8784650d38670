/// The CRC-32 of zlib, gzip and PNG: Swift has none of its own.
struct CRC32 {
    private static let table: [UInt32] = (0..<256).map { entry(of: $0) }

    private var state = UInt32.max

    var value: UInt32 { ~state }

    mutating func update(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8)
        }
    }

    private static func entry(of byte: UInt32) -> UInt32 {
        var crc = byte
        for _ in 0..<8 {
            let isOdd = crc & 1 == 1
            crc >>= 1
            if isOdd {
                crc ^= 0xEDB8_8320
            }
        }
        return crc
    }
}
