internal import LatchkeyCommandLine

/// The options and operands that several commands of sign-ins take.
enum SignInOptions {
    static let account = CommandOption.value(
        "--account", "ACCOUNT", help: "which account; else the current one")
    static let certificateAuthority = CommandOption.value(
        "--ca-file", "FILE", help: "trust the certificates in this PEM file instead of the system's")
    static let clientID = CommandOption.value("--client-id", "ID", help: "the client's id at the server")
    static let scope = CommandOption.value("--scope", "SCOPE", repeats: true, help: "a scope to ask for")
    static let anyScheme = CommandOption.flag(
        "--any-scheme", help: "take a scheme without a dot, such as relay, which other programs may claim as well")
    static let redirect = CommandOption.value(
        "--redirect", "URI", help: "the redirect URI, for servers that compare ports")
    static let issuer = CommandOption.value("--issuer", "URL", help: "the server's issuer")
    static let host = CommandOption.value(
        "--host", "HOST",
        help: "where the service is, for codeberg, github, gitlab, mastodon; the did:plc directory for bluesky")
    static let origin = CommandOption.value(
        "--origin", "URL", repeats: true,
        help: "let the token go to this origin too, such as https://api.example.org")
    static let provider = CommandOperand.required("PROVIDER", help: "a name from latchkey provider list")
}
