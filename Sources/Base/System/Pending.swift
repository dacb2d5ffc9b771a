internal import Synchronization

/// A future value. One task waits for it; the first completion decides.
package final class Pending<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waiting(CheckedContinuation<Value, Never>)
        case done(Value)
    }
    private let state = Mutex<State>(.open)
    private let then: (@Sendable () -> Void)?

    /// - Parameter then: called after the first completion.
    package init(then: (@Sendable () -> Void)? = nil) {
        self.then = then
    }

    /// Returns whether this was the first completion.
    @discardableResult
    package func complete(_ value: Value) -> Bool {
        let (isFirst, waiter): (Bool, CheckedContinuation<Value, Never>?) = state.withLock { state in
            switch state {
            case .open:
                state = .done(value)
                return (true, nil)
            case .waiting(let continuation):
                state = .done(value)
                return (true, continuation)
            case .done:
                return (false, nil)
            }
        }
        waiter?.resume(returning: value)
        if isFirst { then?() }
        return isFirst
    }

    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = state.withLock { state in
                if case .done(let value) = state { return value }
                state = .waiting(continuation)
                return nil
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
