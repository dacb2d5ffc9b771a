// What AsyncHTTPClientTransport uses of SwiftNIO's module of this name.

public struct ByteBuffer: Sendable {
    private let bytes: [UInt8]
    public init(bytes: [UInt8]) { self.bytes = bytes }
    public var readableBytesView: [UInt8] { bytes }
}

public struct TimeAmount: Sendable {
    public let nanoseconds: Int64
    public static func nanoseconds(_ amount: Int64) -> TimeAmount { TimeAmount(nanoseconds: amount) }
}
