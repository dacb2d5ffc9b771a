internal import LatchkeyCredentials
internal import LatchkeyKeyringService
internal import LatchkeySecrets
internal import Synchronization

/// A store and what is done to it behind the service's back.
struct Fixture: Sendable {
    let store: FixtureStore
    let source: FixtureSource
    let configuration: KeyringConfiguration

    /// What a line of standard input asks for; says `done` afterwards.
    func perform(_ line: String) async {
        let id = ItemID("other")!
        do {
            switch line {
            case "create":
                let attributes = ItemAttributes([ItemAttributes.Attribute(name: "by", value: "other")])!
                let draft = ItemDraft(
                    .attributes(attributes, in: "login", replacing: false), label: "Other", contentType: "text/plain")
                let saved = try store.items.save(
                    Secret<ItemContent>(copying: "other".utf8.span), draft, id: id)
                if let saved { store.tell(.created(saved.item)) }
            case "change":

                let changed = try await store.items.update(id, label: "Changed", attributes: nil, deadline: .standard)
                if let changed { store.tell(.changed(changed)) }
            case "delete":
                let deleted = try await store.items.delete(id, condition: .none, deadline: .standard)
                if deleted != nil { store.tell(.deleted(id, collection: "login")) }
            case "unknown": store.tell(.unknown)
            case "lock":
                source.setSlot(false)
                store.isLocked = true
            case "slot": source.setSlot(true)
            default: return
            }
            say("done")
        } catch {
            say("\(error)")
        }
    }
}

/// What a person types, in order.
final class Typed: Sendable {
    private let rest: Mutex<[String]>

    init(_ all: [String]) { rest = Mutex(all) }

    func next() -> String? { rest.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
