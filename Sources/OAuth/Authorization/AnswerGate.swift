internal import LatchkeySecrets
internal import Synchronization

/// Lets the first answer through that belongs to an attempt, and nobody after it.
///
/// A loopback listener, a paste prompt and a handler of a private-use scheme can share one gate: forged answers change
/// nothing, whoever sends them first.
package final class AnswerGate: Sendable {
    package enum Admission: Sendable, Hashable {
        /// The answer belongs to the attempt, and is the first that does.
        case admitted
        /// Its state is missing or another: somebody else's, or forged.
        case foreign
        /// It belongs to the attempt, which has its answer already.
        case repeated
    }

    private let state: Secret<AuthorizationState>
    private let isOpen = Mutex(true)

    init(state: consuming Secret<AuthorizationState>) {
        self.state = state
    }

    /// Compares the state in constant time. An error answer is admitted like any other: it ends the attempt.
    package func admit(_ answer: borrowing RedirectAnswer) -> Admission {
        let isOurs =
            switch answer.state {
            case .some(let theirs): state.matches(theirs)
            case .none: false
            }
        guard isOurs else { return .foreign }
        return isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen ? .admitted : .repeated
        }
    }

    /// Ends the wait: whatever comes from now on is `.repeated` or `.foreign`.
    package func close() {
        isOpen.withLock { $0 = false }
    }
}
