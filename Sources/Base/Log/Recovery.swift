/// A way to recover from an error, which an application can word with its own controls.
///
/// An error's hint contains a recovery, as in `"\(Recovery.createVault), or start a keyring"`. Its default words fit
/// every program. ``LogMessage/wording(_:)`` replaces them, for example with the name of a button.
public enum Recovery: Sendable, Hashable, CaseIterable, Loggable {
    // MARK: Stores

    /// Choose a store, or another store.
    case chooseStore
    /// Examine the state of each store.
    case diagnose
    /// Allow an operation more time.
    case allowMoreTime
    /// Move credentials that are in several stores into one store.
    case moveCredentials
    /// Create a collection in the keyring, or the chosen collection.
    case createCollection
    /// Choose a collection, or another collection.
    case chooseCollection
    /// Let the store prompt the person.
    case allowPrompt

    // MARK: Vaults

    /// Create a vault.
    case createVault
    /// Create a vault's tables in a database.
    case printSchema
    /// Check the vault, item by item.
    case verifyVault
    /// Open the vault again: what is open isn't what is there now.
    case reopenVault
    /// Unlock the vault with one of its keys.
    case unlockVault
    /// Remove an unlocked vault's key from the kernel.
    case lockVault
    /// List the vault's key slots.
    case listKeySlots
    /// Choose the key file, or another key file.
    case chooseKeyFile
    /// Make a new key for the system's credential.
    case createSystemCredential

    // MARK: Sign-in

    /// Sign in, perhaps again.
    case signIn
    /// Make one of several accounts the current one, or choose an account.
    case chooseAccount
    /// Choose an unused name for the account.
    case nameAccount
    /// Store the provider's client secret.
    case saveClientSecret
    /// Register a client with the server.
    case registerClient
    /// Set the client's registered redirect URI.
    case chooseRedirect
    /// Sign in without binding tokens to a key, which the server doesn't support.
    case dropDPoP
    /// Trust the authority of the server's certificate, which the system doesn't trust.
    case trustCertificate
    /// Open the page elsewhere, and paste the address to which the page leads.
    case paste
    /// Sign in with a browser.
    case browser
    /// Sign in with a code that is entered on another device, if the server has a device grant.
    case device
    /// Sign in with a browser or by paste, because the server lacks a device grant.
    case browserOrPaste
    /// Allow a private-use scheme that isn't a reversed domain, so another program may claim it too.
    case allowScheme
    /// Install a handler for the redirect's private-use scheme.
    case installHandler

    // MARK: Files of other programs

    /// Choose the file to import.
    case chooseFile

    /// Safe: words from the source.
    public var logMessage: LogMessage {
        LogMessage(verbatim: words.description, recoveries: [(.init(start: 0, end: words.utf8CodeUnitCount), self)])
    }

    private var words: StaticString {
        switch self {
        case .chooseStore: "choose another store"
        case .diagnose: "check why each store refuses"
        case .allowMoreTime: "allow more time"
        case .moveCredentials: "move all credentials into one store"
        case .createCollection: "create a collection in the keyring"
        case .chooseCollection: "choose another collection"
        case .allowPrompt: "run this where Latchkey may ask a question"
        case .printSchema: "print the tables that a vault needs"
        case .createVault: "create a vault"
        case .verifyVault: "verify the vault"
        case .reopenVault: "open the vault again"
        case .unlockVault: "unlock the vault"
        case .lockVault: "lock the vault"
        case .listKeySlots: "list the key slots"
        case .chooseKeyFile: "check the path of the key file"
        case .createSystemCredential: "encrypt 32 random bytes as the credential"
        case .signIn: "sign in"
        case .chooseAccount: "choose an account"
        case .nameAccount: "give the account another name"
        case .saveClientSecret: "save the client's secret"
        case .registerClient: "register a client with the server"
        case .chooseRedirect: "pass the redirect URI of the client's registration, such as com.example.app:/callback"
        case .dropDPoP: "configure the provider without DPoP"
        case .trustCertificate: "trust the server's own certificate authority, if it has one"
        case .paste: "open the page on another machine"
        case .browser: "sign in with a browser"
        case .device: "sign in with a code for another device"
        case .browserOrPaste: "sign in with a browser, here or on another machine"
        case .allowScheme: "allow this scheme explicitly"
        case .installHandler: "install a handler for the scheme"
        case .chooseFile: "pass the file's path"
        }
    }
}

extension RedactedError {
    /// The next steps in the hint, for a program that offers more than words.
    public var recoveries: [Recovery] { hint?.recoveries ?? [] }
}
