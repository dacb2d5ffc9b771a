package import LatchkeyCredentials

/// An object of the service, by its path (Secret Service API, "Object Paths").
package enum KeyringPath: Sendable, Hashable {
    /// The name of a collection, or another name for one.
    package enum CollectionName: Sendable, Hashable {
        case name(String)
        case alias(String)
    }

    case service
    case collection(CollectionName)
    case item(CollectionName, ItemID)
    case session(String)
    case prompt(String)
    /// Where the desktop portal looks for its backends.
    case portal
    /// One that only leads to others.
    case folder(String)

    package static let root = "/org/freedesktop/secrets"
    private static let collections = root + "/collection"
    private static let aliases = root + "/aliases"
    private static let sessions = root + "/session"
    private static let prompts = root + "/prompt"

    /// No path of an object is longer.
    static let maximumByteCount = 512

    /// Returns `nil` for a path that none of the service's objects can have.
    package init?(_ path: String) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if path == Keyring.portalPath {
            self = .portal
            return
        }
        guard path != "/" else {
            self = .folder(path)
            return
        }
        guard parts.count > 1, parts[0].isEmpty, parts.dropFirst().allSatisfy({ ObjectPathElement.isValid($0) }) else {
            return nil
        }
        let above = ["org", "freedesktop", "secrets"]
        let elements = Array(parts.dropFirst())
        guard elements.starts(with: above) else {
            guard above.starts(with: elements) else { return nil }
            self = .folder(path)
            return
        }
        let rest = Array(elements.dropFirst(above.count))
        switch (rest.first, rest.count) {
        case (nil, _): self = .service
        case ("collection", 1), ("aliases", 1), ("session", 1), ("prompt", 1): self = .folder(path)
        case ("collection", 2): self = .collection(.name(rest[1]))
        case ("aliases", 2): self = .collection(.alias(rest[1]))
        case ("collection", 3):
            guard let id = ItemID(rest[2]) else { return nil }
            self = .item(.name(rest[1]), id)
        case ("aliases", 3):
            guard let id = ItemID(rest[2]) else { return nil }
            self = .item(.alias(rest[1]), id)
        case ("session", 2): self = .session(rest[1])
        case ("prompt", 2): self = .prompt(rest[1])
        default: return nil
        }
    }

    package var text: String {
        switch self {
        case .service: Self.root
        case .collection(.name(let name)): "\(Self.collections)/\(name)"
        case .collection(.alias(let alias)): "\(Self.aliases)/\(alias)"
        case .item(let collection, let id): "\(KeyringPath.collection(collection).text)/\(id.element)"
        case .session(let id): "\(Self.sessions)/\(id)"
        case .prompt(let id): "\(Self.prompts)/\(id)"
        case .portal: Keyring.portalPath
        case .folder(let path): path
        }
    }

    static func item(_ item: Item) -> String { KeyringPath.item(.name(item.collection), item.id).text }
}
