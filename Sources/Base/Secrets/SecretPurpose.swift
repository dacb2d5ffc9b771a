/// What a secret is for. A purpose has no values: it only tells one kind of ``Secret`` from another at compile time.
public protocol SecretPurpose: Sendable {
    /// A short name for people, such as "access token". It may be logged.
    static var name: StaticString { get }
}

/// An OAuth access token (RFC 6749 section 1.4).
public enum AccessToken: SecretPurpose { public static var name: StaticString { "access token" } }
/// An OAuth refresh token (RFC 6749 section 1.5).
public enum RefreshToken: SecretPurpose { public static var name: StaticString { "refresh token" } }
/// An OAuth authorization code (RFC 6749 section 4.1.2).
package enum AuthorizationCode: SecretPurpose { public static var name: StaticString { "authorization code" } }
/// A PKCE code verifier (RFC 7636 section 4.1).
public enum CodeVerifier: SecretPurpose { public static var name: StaticString { "code verifier" } }
/// The `state` of an authorization request (RFC 6749 section 10.12).
package enum AuthorizationState: SecretPurpose { public static var name: StaticString { "state" } }
/// The `nonce` of an OpenID authentication request (OpenID Connect Core section 3.1.2.1).
package enum OpenIDNonce: SecretPurpose { public static var name: StaticString { "nonce" } }
/// An OpenID ID token.
package enum IDToken: SecretPurpose { public static var name: StaticString { "ID token" } }
/// A device code (RFC 8628 section 3.2).
package enum DeviceCode: SecretPurpose { public static var name: StaticString { "device code" } }
/// An OAuth client secret (RFC 6749 section 2.3.1).
public enum ClientSecret: SecretPurpose { public static var name: StaticString { "client secret" } }
/// A passphrase from which a key is derived.
public enum Passphrase: SecretPurpose { public static var name: StaticString { "passphrase" } }
/// A private or symmetric key.
public enum PrivateKey: SecretPurpose { public static var name: StaticString { "private key" } }
/// A password or other credential that someone else handed us to keep.
public enum Password: SecretPurpose { public static var name: StaticString { "password" } }
/// A whole session: tokens and what is needed to refresh them.
public enum StoredLogin: SecretPurpose { public static var name: StaticString { "session" } }
/// A message body that holds secrets, before they are taken out of it one by one.
public enum MessageBody: SecretPurpose { public static var name: StaticString { "message body" } }
