internal import Synchronization

/// A value that several sides may give: the first one counts, and everyone who waits gets it.
final class FirstValue<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
    }

    private let state = Mutex(State())

    /// Gives the value, and returns whether it was the first.
    @discardableResult
    func give(_ value: Value) -> Bool {
        let waiting: [CheckedContinuation<Value, Never>]? = state.withLock { state in
            if state.value != nil { return nil }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        guard let waiting else { return false }
        for continuation in waiting { continuation.resume(returning: value) }
        return true
    }

    /// The value, if it was given already.
    var present: Value? { state.withLock { $0.value } }

    /// Waits for the value. Whoever cancels the wait must give one.
    func wait() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = state.withLock { state in
                if state.value == nil { state.waiting.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }
}
