// What AsyncHTTPClientTransport uses of SwiftNIO's module of this name.

public struct HTTPMethod: RawRepresentable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

public struct HTTPHeaders: Sendable, Sequence {
    private var fields: [(name: String, value: String)] = []
    public init() {}
    public mutating func add(name: String, value: String) { fields.append((name, value)) }
    public func makeIterator() -> AnyIterator<(name: String, value: String)> { AnyIterator(fields.makeIterator()) }
}

public struct HTTPResponseStatus: Sendable {
    public let code: UInt
    public init(statusCode: Int) { code = UInt(statusCode) }
}
