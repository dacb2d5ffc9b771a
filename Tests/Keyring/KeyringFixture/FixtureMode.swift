internal import LatchkeyCredentials
internal import LatchkeyKeyringService
internal import LatchkeySecrets
internal import Synchronization

/// What is there at first.
enum FixtureMode: String {
    /// A keyring as a new vault has it: `login`, which is the default.
    case keyring
    /// The collections that libsecret's own tests want to find.
    case normal, lock, delete, empty
    case onlyPlain = "only-plain"
    /// As `keyring`, with nothing but a passphrase to open it.
    case locked
    /// As `keyring`, and who deletes it stops the service in the middle of the call.
    case stopping
    /// As `keyring`, and nothing can be written.
    case readOnly = "read-only"

    func fixture() throws -> Fixture {
        let items = FixtureItems()
        switch self {
        case .keyring, .locked, .stopping, .readOnly:
            // Earlier versions took any alias.
            items.collection("login", "Login", aliases: ["default", "session"])
        case .empty: break
        case .normal, .onlyPlain: try items.addStandard()
        case .lock:
            try items.addStandard()
            items.collection("lockone", "Collection")
            try items.add("lockone", "item", "uno", ["number": "1", "string": "one", "even": "false"])
            try items.add("lockone", "confirm", "dos", ["number": "2", "string": "two", "even": "true"])
            items.collection("lockprompt", "Collection", isLocked: true)
            try items.add("lockprompt", "locked", "tres", ["number": "3", "string": "three", "even": "false"])
        case .delete:
            try items.addStandard()
            items.collection("todelete", "Collection")
            try items.add("todelete", "item", "uno", ["number": "1", "string": "one", "even": "false"])
            try items.add("todelete", "confirm", "dos", ["number": "2", "string": "two", "even": "true"])
            items.collection("twodelete", "Collection", isLocked: true)
            try items.add("twodelete", "locked", "tres", ["number": "3", "string": "three", "even": "false"])
        }
        let store = FixtureStore(try items.made())
        if self == .readOnly { store.forbidWriting() }
        let source = FixtureSource(store, hasSlot: self != .locked)
        var configuration = KeyringConfiguration(source)
        configuration.lockedAtFirst = items.locked
        configuration.offersEncryption = self != .onlyPlain
        configuration.observer = FixtureObserver()
        configuration.isConfirmed = { action in
            if self == .stopping { Main.service.withLock { $0?.stop() } }
            return switch action {
            case .lock(let name), .unlock(let name): name == "lockprompt"
            case .deleteCollection: false
            case .deleteItem(let id): id.element == "confirm"
            }
        }
        return Fixture(store: store, source: source, configuration: configuration)
    }
}

/// Collections and items as they are added.
final class FixtureItems {
    private var collections: [ItemCollection] = []
    private(set) var locked: Set<String> = []
    private var entries:
        [(collection: String, id: String, secret: String, attributes: [String: String], label: String)] =
            []

    func collection(_ name: String, _ label: String, aliases: [String] = [], isLocked: Bool = false) {
        let now = UnixTime.now()
        collections.append(ItemCollection(name: name, label: label, aliases: aliases, created: now, modified: now))
        if isLocked { locked.insert(name) }
    }

    func add(
        _ collection: String, _ id: String, _ secret: String, _ attributes: [String: String], label: String = "Item"
    ) throws {
        entries.append((collection, id, secret, attributes, label))
    }

    func addStandard() throws {
        collection("english", "Collection One", aliases: ["default"])
        collection("spanish", "Collection", isLocked: true)
        collection("german", "Collection", isLocked: true)
        collection("empty", "Collection")
        collection("session", "Session Keyring", aliases: ["session"])
        let mock = ["xdg:schema": "org.mock.Schema"]
        for (number, word, label) in [(1, "one", "One"), (2, "two", "Two"), (3, "three", "Three")] {
            let attributes = ["number": "\(number)", "string": word, "even": "\(number % 2 == 0)"]
            try add(
                "english", "\(number)", String(repeating: "\(number)", count: 3),
                attributes.merging(mock) { $1 }, label: "Item \(label)")
        }
        for (number, word, secret) in [(1, "uno", "111"), (2, "dos", "222"), (3, "tres", "3333")] {
            let attributes = ["number": "\(number)", "string": word, "even": "\(number % 2 == 0)"]
            try add("spanish", "\(number)0", secret, attributes.merging(mock) { $1 })
        }
        for (number, word) in [(3, "drei"), (4, "vier"), (5, "fuenf"), (6, "sechs")] {
            let attributes = ["number": "\(number)", "string": word, "prime": "\(number % 2 == 1)"]
            try add(
                "german", "\(number)00", String(repeating: "\(number)", count: 3),
                attributes.merging(["xdg:schema": "org.mock.Primes"]) { $1 })
        }
    }

    func made() throws -> InMemoryStore {
        let items = try InMemoryStore(collections: collections, keepsFirst: false)
        for entry in entries {
            let attributes = ItemAttributes(entry.attributes.map { ItemAttributes.Attribute(name: $0, value: $1) })!
            let draft = ItemDraft(
                .attributes(attributes, in: entry.collection, replacing: false), label: entry.label,
                contentType: "text/plain")
            try items.save(Secret<ItemContent>(copying: entry.secret.utf8.span), draft, id: ItemID(entry.id)!)
        }
        return items
    }
}
