import Foundation
import Testing

/// The rules of the RFCs that bind a client like ours, in our words, each with the tests that fail without it. A test
/// that was renamed or removed fails here.
@Suite struct ProtocolRulesTests {
    struct Rule: Sendable, CustomTestStringConvertible {
        let source: String
        let text: String
        let tests: [String]

        init(_ source: String, _ text: String, _ tests: String...) {
            (self.source, self.text, self.tests) = (source, text, tests)
        }

        var testDescription: String { source + ": " + text }
    }

    static let rules = [
        // MARK: RFC 9700, best current practice
        Rule(
            "RFC 9700 2.1", "an answer is believed only with the state of this attempt, once",
            "a response with another state or none is refused, and no token request is sent",
            "of many concurrent responses the gate admits one"),
        Rule(
            "RFC 9700 2.1.1", "PKCE is used, with S256; a server that lists other methods alone is refused",
            "the address has each parameter of the code flow once", "methods without S256 are refused"),
        Rule(
            "RFC 9700 2.1.1", "each attempt has a challenge of its own", "two attempts share neither state nor verifier"
        ),
        Rule(
            "RFC 9700 2.1.2", "no implicit grant: nothing but a code is asked for",
            "the address has each parameter of the code flow once"),
        Rule(
            "RFC 9700 2.2.1", "tokens can be bound to a key of the sender's",
            "a stolen session is useless without the key",
            "an unbound token is refused if a bound one was requested"),
        Rule(
            "RFC 9700 2.2.2", "refresh tokens are rotated: the new one replaces the old one before it is used",
            "the next refresh sends the rotated refresh token",
            "many tasks with one ended session make one refresh, and all get the new token"),
        Rule(
            "RFC 9700 4.14.2",
            "nothing that waits for the network stands between a rotated refresh token and the store",
            "the refreshed session is stored before the server's keys are requested",
            "a server whose keys are unavailable costs no refresh",
            "a signal in the middle of a refresh loses nothing, and the other processes continue with it"),
        Rule(
            "RFC 9700 4.14.2", "a refresh that is killed costs nothing unless the server has acted, and is told then",
            "a process that is killed while it waits for its turn delays no other process",
            "a process that is killed before it has sent anything costs nothing",
            "a process that is killed before the server has acted costs nothing",
            "a command that is killed while the server responds costs nothing",
            "a command that is killed before the store has the response costs nothing, and its worker ends",
            "a command that is killed with its worker before the response costs the session, and the next one says so",
            "a command that is killed with its worker before the store has the response costs the session too",
            "a process that is killed when the store has the new session costs nothing"),
        Rule(
            "RFC 7009 1", "tokens that are refused after they were issued are revoked",
            "tokens of an unusable response are revoked", "tokens of an unusable response to a device are revoked",
            "tokens that a device got in spite of a cancellation are revoked",
            "a refused token of GitHub is revoked in GitHub's own way",
            "unbound tokens of a caller's own step are refused and revoked if bound ones were requested",
            "tokens that came in spite of a cancellation are revoked",
            "a signal in the middle of an exchange leaves no token, here or at the server"),
        Rule(
            "OpenID Connect Core 12.2", "an ID token of a refresh is for the same person, or nothing of it is kept",
            "a refreshed ID token for another person is refused before anything is stored, and its tokens are revoked",
            "a refreshed ID token without a valid signature ends the session, and its tokens are revoked"),
        Rule(
            "OpenID Connect Core 3.1.3.7", "exp and iat are judged by the server's time where it tells it",
            "an ID token's times are compared with the server's clock if ours is a day off",
            "an old ID token is expired by the time of its own response",
            "a server whose time is days away from ours is refused"),
        Rule(
            "RFC 9700 2.6", "endpoints come from metadata of the issuer itself", "a document without issuer is refused",
            "accepted metadata is the issuer's and stays confidential"),
        Rule(
            "RFC 9700 4.3.2", "no token in a query", "an access token follows Bearer",
            "the exchange posts a form with code, verifier and redirect"),
        Rule(
            "RFC 9700 4.4.2", "mix-up: the answer names the issuer that was asked",
            "a missing issuer is refused where the server announces it"),
        Rule(
            "RFC 9700 4.11", "nobody is led on to an address from outside",
            "pages refer to nothing outside themselves"),

        // MARK: RFC 8252, native apps
        Rule(
            "RFC 8252 6", "the person's own browser is used", "the browser gets nothing of ours but the link",
            "a browser that follows the link signs in and shows the outcome"),
        Rule(
            "RFC 8252 7.1", "a private-use scheme is a reverse domain name unless it is allowed by name",
            "a scheme that isn't a reverse domain name is refused by default",
            "a short scheme needs to be allowed explicitly"),
        Rule(
            "RFC 8252 7.3", "a loopback address is an IP literal, with whichever port is free",
            "a loopback address has a port, or gets one", "both loopback addresses work"),
        Rule(
            "RFC 8252 8.3", "the listener is on loopback alone, and takes the true answer alone",
            "the listener accepts only loopback addresses",
            "localhost is accepted if a person sets it, and stays as registered",
            "the name localhost has listeners on both addresses, and a port of another program is refused",
            "forged responses, favicons and other requests change nothing, and the true response still wins"),
        Rule(
            "RFC 8252 8.5", "a client that is installed is a public one unless it is told a secret",
            "a client with a secret never sends the access token instead", "a client secret is read from the store"),

        // MARK: RFC 7636, PKCE
        Rule(
            "RFC 7636 4.1", "a verifier is 43 to 128 unreserved characters, from a strong generator",
            "a generated verifier has 86 characters of the alphabet",
            "an invalid verifier from outside is refused",
            "an attempt without random octets doesn't begin"),
        Rule(
            "RFC 7636 4.2", "the challenge is the base64url text of the verifier's SHA-256",
            "RFC 7636 appendix B's verifier gives its challenge"),
        Rule(
            "RFC 7636 4.5", "the verifier goes with the code",
            "the exchange posts a form with code, verifier and redirect"),

        // MARK: RFC 9449, DPoP
        Rule("RFC 9449 4.1", "one proof, in one field", "a field that belongs to the transport is refused"),
        Rule(
            "RFC 9449 4.2", "a proof says typ, alg and the public key alone, and is signed",
            "our proofs have the form of RFC 9449, with an expiry", "RFC 9449's proofs verify, and damaged ones don't",
            "each key makes its own signatures"),
        Rule(
            "RFC 9449 4.2", "jti is fresh for each request and has 96 bits or more",
            "every proof has a separate identifier, even for a repeated request"),
        Rule(
            "RFC 9449 4.2", "htm and htu are the request's, without query and fragment",
            "the address of a proof is the request's without its query, and is otherwise unchanged"),
        Rule(
            "RFC 9449 4.3", "iat is near the server's clock", "a wrong clock is corrected by the server's",
            "a server's clock is learned from its Date, within two days"),
        Rule(
            "RFC 9449 5", "token requests carry a proof, without ath; a token of another type is refused",
            "a token request is proven, and repeated once with the nonce of a refusal",
            "an unbound token is refused if a key was proven, and a bound one if none was"),
        Rule(
            "RFC 9449 5.1", "a server that takes no algorithm of ours is refused",
            "a server without ES256 is refused before any request"),
        Rule(
            "RFC 9449 6.1", "jkt is the key's thumbprint", "RFC 9449's key has its thumbprint",
            "RFC 7638's key has its thumbprint"),
        Rule(
            "RFC 9449 7.1", "a bound token goes with the scheme DPoP and a proof with ath",
            "the address of a proof is the request's without its query, and is otherwise unchanged"),
        Rule(
            "RFC 9449 8",
            "the newest nonce of an origin is used, and a refusal for its want is followed by one repetition",
            "each response's nonce is used at once, and a server that always wants another gets two requests",
            "a nonce belongs to one origin, and a malformed one is ignored"),
        Rule(
            "RFC 9449 9", "so it is at resources, for the scheme DPoP alone",
            "a server that always wants another nonce gets two requests",
            "a refusal that doesn't concern the proof isn't repeated", "challenges are read one after the other"),
        Rule(
            "RFC 9449 10", "the authorization request names the key",
            "a server without ES256 is refused before any request",
            "a request names the key first, and proves it if the server asks for that"),
        Rule(
            "RFC 9449 11.3", "the private key is kept apart, and a lost one is noticed",
            "a missing or different key is reported, and nothing is sent",
            "a key survives a store, and a damaged one is none"),

        // MARK: RFC 8628, the device grant
        Rule(
            "RFC 8628 3.2", "the interval is five seconds unless told",
            "codes, address, lifetime and interval are read; the default interval is five seconds"),
        Rule(
            "RFC 8628 3.3", "the person is shown code and address, of a server that can be trusted with it",
            "incomplete codes are refused", "a person confirms on another device, and the session is like any other"),
        Rule(
            "RFC 8628 3.5", "it waits between two questions, and five seconds more from each slow_down on",
            "the client polls at the interval until the person has confirmed",
            "each slow_down makes all later waits five seconds longer"),
        Rule(
            "RFC 8628 3.5", "time-outs make it wait longer", "a poll without a response doubles the wait"),
        Rule(
            "RFC 8628 3.5", "expired_token, access_denied, any other error and the codes' end stop it",
            "the codes' expiry ends the wait, with or without the server's word",
            "a person's refusal ends the wait, and so does every other error"),

        // MARK: RFC 9126, pushed requests
        Rule(
            "RFC 9126 2.1", "everything is posted as a form, with the client's own proof, and no request_uri",
            "every parameter is pushed, and the browser's address has only the client and the reference"),
        Rule(
            "RFC 9126 2.2", "the answer has a request_uri and its life",
            "a response without a valid reference is refused"),
        Rule(
            "RFC 9126 4", "the browser gets client_id and request_uri",
            "every parameter is pushed, and the browser's address has only the client and the reference",
            "a request is pushed if the server offers PAR"),
        Rule(
            "RFC 9126 5", "a server that wants pushed requests gets no other",
            "a request is pushed if the server offers PAR",
            "a request that can't be pushed isn't sent through the browser instead"),

        // MARK: RFC 9207, the issuer in answers
        Rule(
            "RFC 9207 2.4", "iss is compared as it stands, in error answers too", "issuers are compared byte for byte",
            "a missing issuer is refused where the server announces it"),

        // MARK: RFC 7009, revocation
        Rule("RFC 7009 2.1", "the token is posted with its kind", "a token is revoked with its kind"),
        Rule(
            "RFC 7009 2.2", "200 is success also for a token that nobody knows",
            "revoking ends both tokens, and an unknown token is no error"),
        Rule(
            "RFC 7009 2.2.1", "a server that is busy or gone is told, and the session goes all the same",
            "sign-out deletes the session even if the server is unreachable, and reports that"),

        // MARK: RFC 8414, metadata
        Rule(
            "RFC 8414 3.1", "the well-known part stands before the issuer's path",
            "an issuer's path is placed as each standard requires", "RFC 8414's address is asked first and is enough"),
        Rule(
            "RFC 8414 3.3", "the document names the issuer that was asked", "a document without issuer is refused",
            "invalid metadata at the first address isn't replaced by the second"),
        Rule(
            "RFC 8414 6.2", "endpoints are HTTPS", "a plain-text endpoint is refused, unless all are on loopback"),

        // MARK: OpenID Connect Core, ID tokens
        Rule(
            "OpenID Connect Core 3.1.3.7", "issuer, audience, authorized party, expiry and nonce are checked",
            "another audience is refused", "several audiences need us as the authorized party",
            "an expired ID token is refused", "another sign-in's nonce, or a missing one, is refused"),
        Rule(
            "OpenID Connect Core 3.1.3.7", "the signature is one of the server's keys', by an algorithm that was meant",
            "a token signed by one of the server's keys is accepted, and no other",
            "another algorithm is refused before any key is asked for",
            "a key for something else doesn't count, whatever it has signed"),
        Rule(
            "OpenID Connect Core 10.1.1", "new keys of the server's are found",
            "one more request finds a server's new key, and a known key needs none"),
    ]

    @Test(arguments: rules) func `tests that exist show each rule`(rule: Rule) throws {
        let names = try Repository.testNames()
        #expect(!rule.tests.isEmpty)
        for test in rule.tests { #expect(names.contains(test), "\(test)") }
    }

    @Test func `every document that binds us has rules`() {
        for document in ["9700", "8252", "7636", "9449", "8628", "9126", "9207", "7009", "8414"] {
            #expect(Self.rules.contains { $0.source.hasPrefix("RFC \(document) ") }, "\(document)")
        }
    }
}
