package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeySecrets

/// Where the service has its items from.
package protocol KeyringSource: Sendable {
    /// Opens the store without asking anybody, by a key slot; throws `locked` where that takes a person.
    func open(deadline: Deadline) async throws(StoreError) -> ServedItems

    /// Opens it with what a person typed; throws `wrongKey` for a passphrase that doesn't open it.
    func open(
        with passphrase: borrowing Secret<Passphrase>, deadline: Deadline
    ) async throws(StoreError) -> ServedItems

    /// All collections were locked: forgets the keys. Returns false where that would be for nothing, because the next
    /// `open` asks nobody; the service then keeps the store, and refuses what is locked itself.
    func close() async -> Bool
}

/// Hears who read what, before the secret is sent. It is for information, and can't refuse; it must not take long.
package protocol ReadObserver: Sendable {
    func didRead(_ item: Item, by client: KeyringClient)
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

/// What may be asked about before it is done. The served vault asks about nothing; libsecret's own tests want prompts.
package enum KeyringAction: Sendable, Hashable {
    case lock(collection: String)
    case unlock(collection: String)
    case deleteCollection(String)
    case deleteItem(ItemID)
}

package struct KeyringConfiguration: Sendable {
    package let source: any KeyringSource
    /// Where the items are, for whoever asks for the state.
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
    /// For each call, and all that it does.
    package var callDuration = Duration.seconds(10)
    /// For a person to type a passphrase.
    package var promptDuration = Duration.seconds(120)

    package init(_ source: any KeyringSource) {
        self.source = source
    }
}
