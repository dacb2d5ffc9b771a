// OAuthKit's `Keychain.Storage`, which is internal there: its Linux storage is still to be written.

public import Foundation

public protocol KeychainStorage {
    init(account: String)
    var account: String { get }
    var keys: [String] { get }
    func set(_ data: Data, for key: String) throws -> Bool
    func get(key: String) throws -> Data?
    func delete(key: String) -> Bool
    func clear() -> Bool
    func accountKey(_ key: String) -> String
}
