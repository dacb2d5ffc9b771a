// What the adapter uses of swift-configuration at commit f0b0ec1: its declarations, with bodies of our own.

public protocol ConfigProvider: Sendable {
    var providerName: String { get }
    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult
    nonisolated(nonsending) func fetchValue(
        forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult
    nonisolated(nonsending) func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
            Return
    ) async throws -> Return
    func snapshot() -> any ConfigSnapshot
    nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return
}

public protocol ConfigSnapshot: Sendable {
    var providerName: String { get }
    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult
}

extension ConfigProvider {
    nonisolated(nonsending) public func watchValueFromValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
            Return
    ) async throws -> Return {
        let first = Result<LookupResult, any Error> { try value(forKey: key, type: type) }
        return try await updatesHandler(ConfigUpdatesAsyncSequence(AsyncStream { $0.yield(first) }))
    }

    nonisolated(nonsending) public func watchSnapshotFromSnapshot<Return: ~Copyable>(
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        let first = snapshot()
        return try await updatesHandler(ConfigUpdatesAsyncSequence(AsyncStream { $0.yield(first) }))
    }
}

public struct ConfigUpdatesAsyncSequence<Element: Sendable, Failure: Error>: Sendable, AsyncSequence {
    private let upstream: any AsyncSequence<Element, Failure> & Sendable

    public init(_ upstream: some AsyncSequence<Element, Failure> & Sendable) { self.upstream = upstream }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var upstream: any AsyncIteratorProtocol<Element, Failure>

        public mutating func next(isolation actor: isolated (any Actor)?) async throws(Failure) -> Element? {
            try await upstream.next(isolation: actor)
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(upstream: upstream.makeAsyncIterator()) }
}

public struct AbsoluteConfigKey: Sendable, Hashable {
    public var components: [String]

    public init(_ components: [String]) { self.components = components }
}

public struct LookupResult: Sendable, Hashable {
    public var encodedKey: String
    public var value: ConfigValue?

    public init(encodedKey: String, value: ConfigValue?) { (self.encodedKey, self.value) = (encodedKey, value) }
}

public struct ConfigValue: Sendable, Hashable {
    public var content: ConfigContent
    public var isSecret: Bool

    public init(_ content: ConfigContent, isSecret: Bool) { (self.content, self.isSecret) = (content, isSecret) }
}

public enum ConfigType: String, Sendable, Hashable {
    case string, int, double, bool, bytes, stringArray, intArray, doubleArray, boolArray, byteChunkArray
}

public enum ConfigContent: Sendable, Hashable {
    case string(String), int(Int), double(Double), bool(Bool), bytes([UInt8]), stringArray([String]), intArray([Int])
    case doubleArray([Double]), boolArray([Bool]), byteChunkArray([[UInt8]])
}
