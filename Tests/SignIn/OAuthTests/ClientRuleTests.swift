import Foundation
import Testing

/// The rules that bind an OAuth client, each with the tests that show it. A rule whose test was renamed or removed
/// fails.
@Suite struct ClientRuleTests {
    struct Rule: Sendable, CustomTestStringConvertible {
        let source: String
        let text: String
        let shownBy: [Reference]

        var testDescription: String { "\(source): \(text)" }

        init(_ source: String, _ text: String, _ shownBy: Reference...) {
            self.source = source
            self.text = text
            self.shownBy = shownBy
        }
    }

    /// A test, by its file and its name.
    struct Reference: Sendable {
        let file: String
        let test: String

        static func pkce(_ test: String) -> Reference { Reference(file: "PKCETests", test: test) }
        static func attempt(_ test: String) -> Reference { Reference(file: "AuthorizationTests", test: test) }
        static func response(_ test: String) -> Reference { Reference(file: "AuthorizationResponseTests", test: test) }
        static func redirect(_ test: String) -> Reference { Reference(file: "RedirectURITests", test: test) }
        static func metadata(_ test: String) -> Reference { Reference(file: "ServerMetadataTests", test: test) }
        static func token(_ test: String) -> Reference { Reference(file: "TokenEndpointTests", test: test) }
        static func idToken(_ test: String) -> Reference { Reference(file: "IDTokenTests", test: test) }
        static func revocation(_ test: String) -> Reference { Reference(file: "RevocationTests", test: test) }
        static func form(_ test: String) -> Reference { Reference(file: "FormTests", test: test) }
        static func error(_ test: String) -> Reference { Reference(file: "OAuthErrorTests", test: test) }
        static func json(_ test: String) -> Reference { Reference(file: "JSONDocumentTests", test: test) }
        static func fuzz(_ test: String) -> Reference { Reference(file: "FuzzTests", test: test) }
    }

    static let rules: [Rule] = [
        // MARK: PKCE
        Rule(
            "RFC 7636 4.1", "a verifier has 43 to 128 characters of the alphabet, from enough randomness",
            .pkce("a generated verifier has 86 characters of the alphabet"),
            .pkce("an invalid verifier from outside is refused"),
            .pkce("every octet of the generator is used"),
            .pkce("a generator's refusal is an error with its number")),
        Rule(
            "RFC 7636 4.2", "the challenge is S256, always",
            .pkce("the challenge is the base64url text of the verifier's SHA-256"),
            .pkce("RFC 7636 appendix B's verifier gives its challenge"),
            .attempt("the address has each parameter of the code flow once")),
        Rule(
            "RFC 7636 4.5", "the verifier goes with the code to the token endpoint",
            .token("the exchange posts a form with code, verifier and redirect")),
        Rule(
            "RFC 9700 2.1.1", "two attempts share no verifier",
            .pkce("two pairs share neither verifier nor challenge"),
            .attempt("two attempts share no state, verifier or nonce")),
        Rule(
            "RFC 9700 2.1.1", "a server that lists methods without S256 is refused",
            .metadata("methods without S256 are refused")),

        // MARK: State and the answer
        Rule(
            "RFC 6749 10.12", "state binds the answer to the attempt",
            .attempt("a missing, other, longer or shorter state is refused"),
            .attempt("a valid response is accepted"),
            .fuzz("a damaged response is accepted as ours only if its state is ours")),
        Rule(
            "RFC 9700 4.7", "state is used once",
            .attempt("the gate admits one response, the first with our state"),
            .attempt("of many concurrent responses the gate admits one")),
        Rule(
            "RFC 6749 3.1", "parameters come at most once, and without a value count as absent",
            .response("a repeated parameter is refused"), .response("a response needs a code or an error")),
        Rule(
            "RFC 6749 4.1.2", "unknown parameters are ignored",
            .response("empty parts and unknown parameters are harmless")),
        Rule(
            "RFC 6749 4.1.2.1", "an error answer ends the attempt, and its prose is not kept",
            .attempt("a denial and another error are distinguished"),
            .response("an error is a known word or absent"),
            .error("a server's own words are never shown")),
        Rule(
            "RFC 6749 3.1.1", "no flow but the code flow: no password, no implicit grant, no token in a query",
            .attempt("the address has each parameter of the code flow once"),
            .attempt("extra parameters are added but can't replace ours"),
            .response("a response needs a code or an error"),
            .token("the exchange posts a form with code, verifier and redirect")),

        // MARK: Mix-up
        Rule(
            "RFC 9207 2.4", "a wrong iss aborts, on error answers too",
            .attempt("the wrong issuer is refused, on errors too")),
        Rule(
            "RFC 9207 2.4", "a missing iss aborts where the server announces it, on error answers too",
            .attempt("a missing issuer is refused where the server announces it")),
        Rule(
            "RFC 9207 2.4", "issuers are compared as plain strings",
            .attempt("issuers are compared byte for byte"), .attempt("the right issuer is fine")),
        Rule(
            "RFC 9700 4.4", "a code goes to the token endpoint of the server that was asked",
            .token("a callback of another server is not exchanged")),

        // MARK: Redirect addresses
        Rule(
            "RFC 8252 7.3", "loopback IP literals, v4 and v6, any port",
            .redirect("a loopback address has a port, or gets one"), .redirect("another kind of address is refused"),
            .fuzz("an accepted redirect address is a loopback literal, a page, or a private-use scheme")),
        Rule(
            "RFC 8252 8.3", "no localhost unless somebody names it",
            .redirect("localhost is accepted if a person sets it, and stays as registered")),
        Rule(
            "RFC 8252 7.1", "private-use schemes are reverse domain names unless allowed explicitly",
            .redirect("reverse-domain schemes are accepted"),
            .redirect("a short scheme needs to be allowed explicitly"),
            .redirect("a scheme that isn't a reverse domain name is refused by default")),
        Rule(
            "RFC 9700 2.1", "the redirect sent is the registered one, but for a loopback port",
            .attempt("a loopback address without a port can't be used yet"),
            .response("a pasted address of another kind is refused"),
            .fuzz("a damaged address never counts as another redirect")),

        // MARK: Metadata
        Rule(
            "RFC 8414 3.3", "the document's issuer is identical to the one asked for",
            .metadata("another issuer is refused"), .metadata("a document without issuer is refused"),
            .metadata("invalid metadata at the first address isn't replaced by the second")),
        Rule(
            "RFC 8414 3.1", "the well-known part stands between host and path",
            .metadata("an issuer's path is placed as each standard requires")),
        Rule(
            "OpenID Connect Discovery 4.1", "the well-known part stands at the end",
            .metadata("OpenID's address is asked if the first has no document")),
        Rule(
            "RFC 9700 2.6", "endpoints are HTTPS, or on a loopback address when the issuer is",
            .metadata("a plain-text endpoint is refused, unless all are on loopback"),
            .metadata("an invalid issuer is refused before any request"),
            .fuzz("accepted metadata is the issuer's and stays confidential")),
        Rule(
            "RFC 9700 4.1.3", "metadata is not taken from where a redirect leads",
            .metadata("a redirect is not followed")),

        // MARK: Token endpoint
        Rule(
            "RFC 6749 4.1.3", "code, redirect, client and verifier go into a form",
            .token("the exchange posts a form with code, verifier and redirect")),
        Rule(
            "RFC 6749 2.3.1", "client credentials are form-encoded in Basic, or go into the form",
            .form("Basic credentials are form-encoded, or raw on demand"),
            .token("a client secret goes into the form or into the field, as configured")),
        Rule(
            "RFC 6749 5.1", "an unknown token type is refused, whatever its case",
            .token("an unknown token type is refused"), .token("a complete response is read")),
        Rule(
            "RFC 6749 5.2", "an error is never success, whatever its status",
            .token("200 with an error member is never success"), .token("an error of any shape is an error"),
            .token("another status keeps its number")),
        Rule(
            "RFC 9700 4.12", "a redirect of the token endpoint is not followed",
            .token("another status keeps its number")),
        Rule(
            "RFC 6749 6", "the old refresh token is kept when none is given",
            .token("the old refresh token stays unless the response has a new one")),
        Rule(
            "RFC 6749 5.2", "invalid_grant ends the session, trouble on the way doesn't",
            .token("a refresh token that is no longer accepted ends the session"),
            .token("network trouble doesn't end the session")),
        Rule(
            "RFC 6750 2.1", "a token goes into the Authorization field alone, and can't end it",
            .form("an access token follows Bearer"), .form("a token that could end its field is refused"),
            .fuzz("an accepted token response holds a token that fits into a field")),
        Rule(
            "RFC 8259", "answers are read strictly and within bounds",
            .json("duplicate names are refused"), .json("depth is limited"),
            .json("size, values and members are limited"),
            .fuzz("the JSON reader accepts nothing that Foundation refuses, and reads the same")),

        // MARK: OpenID Connect
        Rule(
            "OpenID Connect Core 3.1.2.1", "a nonce goes with openid",
            .attempt("a nonce goes with openid and with nothing else")),
        Rule(
            "OpenID Connect Core 3.1.3.7", "issuer, audience, authorized party, expiry and nonce are checked",
            .idToken("another issuer is refused"), .idToken("another audience is refused"),
            .idToken("several audiences need us as the authorized party"),
            .idToken("an expired ID token is refused"),
            .idToken("another sign-in's nonce, or a missing one, is refused"),
            .idToken("an unsigned token is refused")),
        Rule(
            "OpenID Connect Core 12.2", "a refreshed ID token is the same person's",
            .idToken("after a refresh the ID token may be missing but not another person's")),

        // MARK: Revocation
        Rule(
            "RFC 7009 2.2", "200 is success, whether the token was known or not",
            .revocation("a token is revoked with its kind")),
        Rule(
            "RFC 7009 2.2.1", "503 means later; a redirect is not followed",
            .revocation("another status is an error with its number")),
    ]

    @Test(arguments: rules) func `tests that exist show each rule`(rule: Rule) throws {
        #expect(!rule.shownBy.isEmpty)
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        for reference in rule.shownBy {
            let source = try String(contentsOf: folder.appending(path: "\(reference.file).swift"), encoding: .utf8)
            #expect(source.contains("func `\(reference.test)`("), "\(reference.file): \(reference.test)")
        }
    }
}
