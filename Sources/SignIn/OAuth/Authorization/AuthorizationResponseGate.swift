internal import LatchkeySecrets
internal import Synchronization

/// Lets the first response through that belongs to an attempt, and none after it.
///
/// A loopback listener, a paste prompt and a handler of a private-use scheme can share one gate: forged responses
/// change nothing, whoever sends them first.
package final class AuthorizationResponseGate: Sendable {
    package enum Admission: Sendable, Hashable {
        /// The response belongs to the attempt, and is the first that does.
        case admitted
        /// Its state is missing or another: another account's, or forged.
        case foreign
        /// It belongs to the attempt, which has its response already.
        case repeated
    }

    private let state: Secret<AuthorizationState>
    private let isOpen = Mutex(true)

    init(state: consuming Secret<AuthorizationState>) {
        self.state = state
    }

    /// Compares the state in constant time. An error response is admitted like any other: it ends the attempt.
    package func admit(_ response: borrowing AuthorizationResponse) -> Admission {
        let isOurs =
            switch response.state {
            case .some(let theirs): state.matches(theirs)
            case .none: false
            }
        guard isOurs else { return .foreign }
        return isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen ? .admitted : .repeated
        }
    }
}
