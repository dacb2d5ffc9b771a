public import Configuration
import Foundation
public import Latchkey

/// swift-configuration's values out of any store: the key `database.password` is the password of the account
/// `database.password` under one service. All values are marked secret, so that its reporters don't show them.
public struct CredentialProvider: ConfigProvider, ConfigSnapshot {
    public let providerName: String
    private let service: String
    private let store: any CredentialStore

    /// - Parameter service: the service of the credentials, such as your program's name.
    public init(service: String, store: any CredentialStore) {
        (self.service, self.store) = (service, store)
        providerName = "CredentialProvider[\(service)]"
    }

    public struct Unreadable: Error, CustomStringConvertible {
        public let encodedKey: String
        public let type: ConfigType
        public var description: String { "the credential \(encodedKey) can't be read as \(type.rawValue)" }
    }

    public nonisolated(nonsending) func fetchValue(
        forKey key: AbsoluteConfigKey, type: ConfigType
    ) async throws -> LookupResult {
        let account = key.components.joined(separator: ".")
        let record = try await store.read(CredentialKey(service: service, account: account), as: Password.self)
        guard let record else { return LookupResult(encodedKey: account, value: nil) }
        let data = ForeignMemory.data(of: record.secret)
        guard let content = Self.content(data, as: type) else { throw Unreadable(encodedKey: account, type: type) }
        return LookupResult(encodedKey: account, value: ConfigValue(content, isSecret: true))
    }

    private static func content(_ data: Data, as type: ConfigType) -> ConfigContent? {
        if type == .bytes { return .bytes(Array(data)) }
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        return switch type {
        case .string: .string(text)
        case .int: Int(text).map(ConfigContent.int)
        case .double: Double(text).map(ConfigContent.double)
        case .bool: Bool(text).map(ConfigContent.bool)
        default: nil
        }
    }

    /// Waits for the store, on threads of its own.
    public func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        try OwnThreads.wait { try await fetchValue(forKey: key, type: type) }.get()
    }

    /// Reads each value when it is asked for: secrets aren't copied beforehand.
    public func snapshot() -> any ConfigSnapshot { self }

    public nonisolated(nonsending) func watchValue<Return: ~Copyable>(
        forKey key: AbsoluteConfigKey, type: ConfigType,
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<Result<LookupResult, any Error>, Never>) async throws ->
            Return
    ) async throws -> Return {
        try await watchValueFromValue(forKey: key, type: type, updatesHandler: updatesHandler)
    }

    public nonisolated(nonsending) func watchSnapshot<Return: ~Copyable>(
        updatesHandler: (_ updates: ConfigUpdatesAsyncSequence<any ConfigSnapshot, Never>) async throws -> Return
    ) async throws -> Return {
        try await watchSnapshotFromSnapshot(updatesHandler: updatesHandler)
    }
}
