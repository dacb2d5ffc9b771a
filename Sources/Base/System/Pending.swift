internal import Synchronization

/// A future value, which several sides may give: the first completion decides, and everyone who waits gets it.
package final class Pending<Value: Sendable>: Sendable {
    private struct State: Sendable {
        var value: Value?
        var waiting: [CheckedContinuation<Value, Never>] = []
        /// Waits that can be cancelled, by number.
        var cancellable: [Int: CheckedContinuation<Value?, Never>] = [:]
        var nextNumber = 0
    }

    private let state = Mutex(State())
    private let then: (@Sendable () -> Void)?

    /// - Parameter then: called after the first completion.
    package init(then: (@Sendable () -> Void)? = nil) {
        self.then = then
    }

    /// Gives the value, and returns whether this was the first completion.
    @discardableResult
    package func complete(_ value: Value) -> Bool {
        let waiting: State? = state.withLock { state in
            if state.value != nil { return nil }
            state.value = value
            let before = state
            (state.waiting, state.cancellable) = ([], [:])
            return before
        }
        guard let waiting else { return false }
        for continuation in waiting.waiting { continuation.resume(returning: value) }
        for continuation in waiting.cancellable.values { continuation.resume(returning: value) }
        then?()
        return true
    }

    /// The value, or `nil` before there is one.
    package var present: Value? { state.withLock { $0.value } }

    /// Waits for the value. Whoever cancels the wait must complete it.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let value: Value? = state.withLock { state in
                if state.value == nil { state.waiting.append(continuation) }
                return state.value
            }
            if let value { continuation.resume(returning: value) }
        }
    }

    /// Waits for the value, or returns `nil` after the time. A cancelled task waits too.
    package func value(within duration: Duration) async -> Value? {
        let waiting = Task { await valueUnlessCancelled() }
        let alarm = Task {
            try await Task.sleep(for: duration)
            waiting.cancel()
        }
        defer { alarm.cancel() }
        return await waiting.value
    }

    /// Waits for the value, or returns `nil` when the task is cancelled first.
    package func valueUnlessCancelled() async -> Value? {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                // If the handler has run already, the continuation would never be resumed.
                let known: Value?? = state.withLock { state in
                    if let value = state.value { return .some(value) }
                    if Task.isCancelled { return .some(nil) }
                    state.cancellable[number] = continuation
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            let continuation = state.withLock { $0.cancellable.removeValue(forKey: number) }
            continuation?.resume(returning: nil)
        }
    }
}
