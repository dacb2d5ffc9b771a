internal import LatchkeyCredentials
internal import LatchkeyCrypto
internal import LatchkeyDBus
internal import LatchkeyLog
internal import LatchkeySystem

/// A session: how secrets cross the bus between the service and one connection (Secret Service API, "Transfer of
/// Secrets").
final class ClientSession: Sendable {
    enum Algorithm {
        static let plain = "plain"
        static let encrypted = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
    }

    let path: String
    /// The unique name of the connection that opened the session. Other connections can't use it.
    let client: String
    /// `nil` of a plain one.
    private let key: Secret<PrivateKey>?

    /// A session in which secrets cross the bus as they are: some clients know no other.
    init(plainAt path: String, of client: String) {
        self.path = path
        self.client = client
        key = nil
    }

    init(_ key: consuming Secret<PrivateKey>, at path: String, of client: String) {
        self.path = path
        self.client = client
        self.key = consume key
    }

    /// Agrees on a key with a client, and returns the session with what the client is to be sent.
    static func agreeing(
        on clientValue: [UInt8], at path: String, of client: String
    ) throws(BusFault) -> (session: ClientSession, publicValue: [UInt8]) {
        let exchange: SecretServiceKeyExchange?
        do throws(LibraryFailure) {
            exchange = try SecretServiceKeyExchange()
        } catch {
            throw BusFault(error)
        }
        guard let exchange else { throw BusFault(.failed, "can't create a key") }
        guard let key = exchange.key(with: clientValue) else {
            throw BusFault.invalid("the public value isn't in the group")
        }
        return (ClientSession(key, at: path, of: client), exchange.publicValue)
    }

    // MARK: - Secrets

    /// A secret as it goes over the bus: `(oayays)`.
    func sealed(_ record: consuming ItemRecord<ItemContent>) throws(BusFault) -> BusValue {
        let contentType = record.item.contentType
        let parameters: [UInt8]
        let value: BusValue
        if key != nil {
            guard let (vector, ciphertext) = encrypted(record.secret) else {
                throw BusFault(.failed, "can't encrypt the secret")
            }
            parameters = vector
            value = .bytes(ciphertext)
        } else {
            parameters = []
            value = .lending(LentSecret(record.takeSecret()))
        }
        return .tuple([.path(path), .bytes(parameters), value, .string(contentType)])
    }

    // A session with a key has loaded what `FileCipher` needs.

    private func encrypted(_ secret: borrowing Secret<ItemContent>) -> ([UInt8], [UInt8])? {
        switch key {
        case .some(let key):
            guard let vector = try? RandomOctets.array(16) else { return nil }
            let ciphertext = try? FileCipher.sealCBC(secret, key: key, initializationVector: vector)
            return ciphertext.map { (vector, $0) }
        case .none: return nil
        }
    }

    /// Opens a secret that came over the bus: `(oayays)`, the session looked up already.
    ///
    /// GLib's own copies are in memory that our programs overwrite when it is freed, such as the value, which goes with
    /// the call; and, of a plain one, in GDBus's buffer (`BusConnection.overwriteReadBuffer`).
    func opened(_ value: BusValue) throws(BusFault) -> Secret<ItemContent> {
        let parameters = value[1].publicBytes
        guard key != nil else {
            guard parameters.isEmpty else { throw BusFault.invalid("a plain secret must not have parameters") }
            return value[2].withBytes { Secret<ItemContent>(copying: $0) }
        }
        guard let secret = decrypted(value[2].publicBytes, parameters) else {
            throw BusFault.invalid("the secret isn't encrypted for this session")
        }
        return secret.repurposed(as: ItemContent.self)
    }

    private static let plainTextCharsets = ["utf-8", "utf8", "us-ascii"]

    /// The program's content type for the secret. libsecret reads text of the type `text/plain` alone, in UTF-8, so other
    /// names of that type aren't stored.
    static func contentType(of value: BusValue) throws(BusFault) -> String {
        let contentType = value[3].text
        guard contentType.utf8.count <= 255 else { throw BusFault.invalid("the content type is too long") }
        let name = ASCII.lowercased(contentType).filter { $0 != " " && $0 != "\"" }
        let isText =
            ["", "text/plain"].contains(name) || plainTextCharsets.contains { name == "text/plain;charset=\($0)" }
        return isText ? "text/plain" : contentType
    }

    private func decrypted(_ ciphertext: [UInt8], _ vector: [UInt8]) -> Secret<Password>? {
        switch key {
        case .some(let key): return try? FileCipher.openCBC(ciphertext, key: key, initializationVector: vector)
        case .none: return nil
        }
    }
}

extension Keyring {
    func openSession(_ call: BusCall) throws(BusFault) -> BusValue {
        let (algorithm, input) = (call[0].text, call[1].unboxed)
        guard sessions.count < Self.maximumTotalSessionCount,
            sessions.values.count(where: { $0.client == sender }) < Self.maximumSessionCount
        else { throw BusFault(.limitsExceeded, "too many sessions") }
        // Random: a client of a service that ended may still use its session's path, with another key.
        let path = KeyringPath.session("s\(UInt64.random(in: 0 ... .max))").text
        switch algorithm {
        case ClientSession.Algorithm.plain:
            guard input.is("s") else { throw .invalid("a plain session takes a string") }
            sessions[path] = ClientSession(plainAt: path, of: sender)
            return .tuple([.boxed(.string("")), .path(path)])
        case ClientSession.Algorithm.encrypted where configuration.offersEncryption:
            guard input.is("ay") else { throw .invalid("an encrypted session takes a public value") }
            guard input.count <= 4096 else { throw .invalid("the public value is too long") }
            let (session, publicValue) = try ClientSession.agreeing(on: input.publicBytes, at: path, of: sender)
            sessions[path] = session
            return .tuple([.boxed(.bytes(publicValue)), .path(path)])
        default: throw BusFault(.notSupported, "unknown algorithm")
        }
    }

    func close(_ session: ClientSession, _: BusCall) -> BusValue {
        sessions[session.path] = nil
        return .none
    }
}
