/// The options and operands that several commands of sign-ins take.
enum SignInOptions {
    static let account = CommandOption.value(
        "--account", "ACCOUNT", help: "account to use (default: the current account)")
    static let certificateAuthority = CommandOption.value(
        "--ca-file", "FILE", help: "PEM file of certificates to trust instead of the system's")
    static let clientID = CommandOption.value("--client-id", "ID", help: "client ID that the server gave you")
    static let scope = CommandOption.value("--scope", "SCOPE", repeats: true, help: "scope to request")
    static let anyScheme = CommandOption.flag(
        "--any-scheme", help: "allow a scheme without a dot, such as relay, which other programs may claim too")
    static let redirect = CommandOption.value(
        "--redirect", "URI", help: "redirect URI, for servers that compare the port")
    static let parameter = CommandOption.value(
        "--parameter", "NAME=VALUE", repeats: true,
        help: "parameter to add to the authorization request, such as login_hint=ada@example.org")
    static let resource = CommandOption.value(
        "--resource", "URL", help: "resource that names its server (RFC 9728), such as an MCP server")
    static let issuer = CommandOption.value("--issuer", "URL", help: "issuer of a server that isn't built in")
    static let host = CommandOption.value(
        "--host", "HOST",
        help: "host of the service, such as mastodon.social or an Enterprise host of github")
    static let origin = CommandOption.value(
        "--origin", "URL", repeats: true,
        help: "other origin that may get the token, such as https://api.example.org")
    static let provider = CommandOperand.required("PROVIDER", help: "provider's name from latchkey provider list")
    static let clientSecret = CommandOption.flag(
        "--client-secret-stdin", help: "read the client secret from standard input, or ask for it at a terminal")
    static let clientAuthentication = CommandOption.value(
        "--client-auth", "METHOD", form: .choice(["basic", "post", "private-key-jwt", "none"]),
        help: "how the client authenticates: basic, post, private-key-jwt or none (default: basic or post)"
    )
}
