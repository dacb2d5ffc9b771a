// What OAuthenticator's storage consists of.

public import Foundation

public struct Token: Codable, Hashable, Sendable {
    public let value: String
    public let expiry: Date?
    public init(value: String, expiry: Date? = nil) { (self.value, self.expiry) = (value, expiry) }
}

public struct Login: Codable, Hashable, Sendable {
    public var accessToken: Token
    public var refreshToken: Token?
    public init(accessToken: Token, refreshToken: Token? = nil) {
        (self.accessToken, self.refreshToken) = (accessToken, refreshToken)
    }
}

public struct LoginStorage: Sendable {
    public typealias RetrieveLogin = @Sendable () async throws -> Login?
    public typealias StoreLogin = @Sendable (Login) async throws -> Void
    public typealias ClearLogin = @Sendable () async throws -> Void
    public let retrieveLogin: RetrieveLogin
    public let storeLogin: StoreLogin
    public let clearLogin: ClearLogin

    public init(
        retrieveLogin: @escaping RetrieveLogin, storeLogin: @escaping StoreLogin,
        clearLogin: @escaping ClearLogin = {}
    ) {
        (self.retrieveLogin, self.storeLogin, self.clearLogin) = (retrieveLogin, storeLogin, clearLogin)
    }
}
