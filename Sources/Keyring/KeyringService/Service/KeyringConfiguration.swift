package import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog
package import LatchkeySecrets
internal import LatchkeySystem

/// Where the service has its items from.
package protocol KeyringSource: Sendable {
    /// Opens the store by a key slot, without a question; throws `locked` if a person is required.
    func open(deadline: Deadline) async throws(StoreError) -> ServedItems

    /// Opens it with what a person typed; throws `wrongKey` for a passphrase that doesn't open it.
    func open(
        with passphrase: borrowing Secret<Passphrase>, deadline: Deadline
    ) async throws(StoreError) -> ServedItems

    /// Forgets the keys, after all collections were locked. Returns false if that would be pointless, because the next
    /// `open` works without a question. Then the service keeps the store, and refuses locked collections itself.
    func close() async -> Bool
}

/// Learns which client reads which item, before the secret is sent. An observer can't refuse, and must return soon.
package protocol ReadObserver: Sendable {
    func didRead(_ item: Item, by client: KeyringClient)
    /// A search or a save failed because the vault is locked.
    func didRefuse(_ client: KeyringClient)
}

/// A connection that asks, as far as the bus knows it. Not an identity: a process of the same user can look like
/// another one.
package struct KeyringClient: Sendable, Hashable {
    /// Such as `:1.7`.
    package let uniqueName: String
    package let processID: UInt32?
    /// The last part of its control group, such as `app-firefox.scope`.
    package let unit: String?
    /// The path of its program.
    package let executable: String?
}

extension KeyringClient {
    init(_ uniqueName: String, on bus: BusConnection) async {
        let processID = await bus.processID(of: uniqueName)
        self.init(
            uniqueName: uniqueName, processID: processID, unit: processID.flatMap(ProcessFacts.unit),
            executable: processID.flatMap(ProcessFacts.executable))
    }
}

/// An action that may need a prompt. The served vault never prompts for it; libsecret's own tests require prompts.
package enum KeyringAction: Sendable, Hashable {
    case lock(collection: String)
    case unlock(collection: String)
    case deleteCollection(String)
    case deleteItem(ItemID)
}

package struct KeyringConfiguration: Sendable {
    package let source: any KeyringSource
    /// The place of the items, for queries of the state.
    package var place = ""
    /// How this program words a store's refusal, with what helps.
    package var words: @Sendable (StoreError) -> String = { error in
        error.hint.map { "\(error.cause.text): \($0.text)" } ?? error.cause.text
    }
    package var observer: (any ReadObserver)?
    /// Whether an action waits for a prompt.
    package var isConfirmed: @Sendable (KeyringAction) -> Bool = { _ in false }
    /// Whether sessions may be encrypted. Only tests of other programs' clients say no.
    package var offersEncryption = true
    /// Collections that are locked at first.
    package var lockedAtFirst: Set<String> = []
    /// The time limit for a whole call.
    package var callDuration = Duration.seconds(10)
    /// For a person to type a passphrase.
    package var promptDuration = Duration.seconds(120)

    package init(_ source: any KeyringSource) {
        self.source = source
    }
}
