/// A way to recover from an error, which an application can word with its own controls.
///
/// An error's hint contains it, as in `"\(Recovery.createVault), or start a keyring"`. By default it has words that fit
/// every program; the command line replaces them, for example with the option to add.
public enum Recovery: Sendable, Hashable, CaseIterable, Loggable {
    // MARK: Stores

    /// A store has to be chosen, or another one.
    case chooseStore
    /// Where each store stands has to be looked at.
    case diagnose
    /// An operation needs more time than it was given.
    case allowMoreTime
    /// Credentials are in more than one store, and have to be in one.
    case moveCredentials
    /// The keyring has no collection yet, or not that one.
    case createCollection
    /// A collection has to be named, or another one.
    case chooseCollection
    /// The store may only work where it can ask the person.
    case allowPrompt

    // MARK: Vaults

    /// There is no vault yet.
    case createVault
    /// A database has to be given the tables of a vault.
    case printSchema
    /// The vault has to be checked, item by item.
    case verifyVault
    /// The vault has to be opened with what opens it.
    case unlockVault
    /// The key that an unlocked vault left in the kernel has to go.
    case lockVault
    /// Which key slots there are has to be looked at.
    case listKeySlots
    /// The key file has to be named, or another one.
    case chooseKeyFile
    /// A new key has to be made for the system's credential.
    case createSystemCredential

    // MARK: Sign-in

    /// Somebody has to sign in, maybe again.
    case signIn
    /// One of several accounts has to be made the current one, or named.
    case chooseAccount
    /// The account needs a name that isn't in use.
    case nameAccount
    /// The provider's client secret has to be stored.
    case saveClientSecret
    /// A client has to be registered with the server.
    case registerClient
    /// The client's registered redirect URI has to be named.
    case chooseRedirect
    /// The server can't bind tokens to a key.
    case dropDPoP
    /// The server's certificate is from an authority that the system doesn't trust.
    case trustCertificate
    /// The person can open the page elsewhere, and paste the address that it leads to.
    case paste
    /// A browser is needed.
    case browser
    /// The server has no device grant.
    case browserOrPaste
    /// No handler is installed for the redirect's private-use scheme.
    case installHandler
    /// A session from another machine can be copied.
    case copySession

    // MARK: Files of other programs

    /// The file to import has to be named.
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
        case .unlockVault: "unlock the vault"
        case .lockVault: "lock the vault"
        case .listKeySlots: "list the key slots"
        case .chooseKeyFile: "check the path of the key file"
        case .createSystemCredential: "encrypt 32 random bytes as the credential"
        case .signIn: "sign in first"
        case .chooseAccount: "choose an account"
        case .nameAccount: "give the account another name"
        case .saveClientSecret: "save the client's secret"
        case .registerClient: "register a client with the server"
        case .chooseRedirect: "pass the redirect URI of the client's registration, such as com.example.app:/callback"
        case .dropDPoP: "configure the provider without DPoP"
        case .trustCertificate: "trust the server's own certificate authority, if it has one"
        case .paste: "open the page on another machine"
        case .browser: "sign in with a browser"
        case .browserOrPaste: "sign in with a browser, here or on another machine"
        case .installHandler: "install a handler for the scheme"
        case .copySession: "copy a session here"
        case .chooseFile: "pass the file's path"
        }
    }
}

extension RedactedError {
    /// The conditions in the hint, for a program that offers more than words.
    public var recoveries: [Recovery] { hint?.recoveries ?? [] }
}
