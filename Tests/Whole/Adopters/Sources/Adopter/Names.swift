import Credentials
import HTTPTypes
import Latchkey
import Logging
import OAuth
import Terminal
import Vault

// One file that imports Latchkey, swift-log and swift-http-types, and says nobody's module.

struct State: Sendable { var count = 0 }
struct Session: Sendable { var name = "" }
struct Nonce: Sendable { var number = 0 }

func useAll(of theirs: Logger, _ request: HTTPRequest) -> String {
    let own = (State(), Session(), Nonce(), VaultThing(), OAuthThing(), TerminalThing(), CredentialsThing())
    theirs.info("a request by \(request.method) with \(own.0.count)")
    let ours = RedactedLogger("adopter", sink: nil)
    ours.info("a request by \(GuardedRequest.Method.get)")
    return request.method.rawValue
}
