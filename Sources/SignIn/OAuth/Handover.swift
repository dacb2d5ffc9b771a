internal import Synchronization

/// A noncopyable value on its way into a task, or out of one: whoever takes it has it.
final class Handover<Value: ~Copyable & Sendable>: Sendable {
    private let slot: Mutex<Value?>

    init(_ value: consuming Value) {
        slot = Mutex(value)
    }

    /// The value; `nil` for whoever comes second.
    func take() -> Value? {
        slot.withLock { $0.take() }
    }
}
