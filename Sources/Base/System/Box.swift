internal import Synchronization

/// A value that can't be copied, such as a secret, where an array, a closure or a C library refers to it.
package final class Box<Value: ~Copyable & Sendable>: Sendable {
    package let value: Value

    package init(_ value: consuming Value) {
        self.value = value
    }
}

/// A value on its way into a task or thread, or out of one. The first to take it has it.
package final class Handover<Value: ~Copyable & Sendable>: Sendable {
    private let slot: Mutex<Value?>

    package init(_ value: consuming Value? = nil) {
        slot = Mutex(value)
    }

    package func give(_ value: consuming Value) {
        var value: Value? = value
        slot.withLock { $0 = value.take() }
    }

    package func take() -> Value? {
        slot.withLock { $0.take() }
    }
}
