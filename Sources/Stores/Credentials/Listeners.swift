/// The listeners to a store's changes.
package struct Listeners<Change: Sendable>: Sendable {
    /// The last word to a listener that fell behind: it must look at everything.
    private let lost: Change
    private let limit: Int
    private var continuations: [Int: AsyncStream<Change>.Continuation] = [:]
    private var added = 0

    package var isEmpty: Bool { continuations.isEmpty }

    /// - Parameter limit: how many changes wait for a listener at most.
    package init(lost: Change, holding limit: Int = 256) {
        self.lost = lost
        self.limit = limit
    }

    /// - Parameter ended: called with the listener's number after its stream ended.
    package mutating func listen(ended: @escaping @Sendable (Int) -> Void) -> AsyncStream<Change> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Change.self, bufferingPolicy: .bufferingNewest(limit))
        added += 1
        let number = added
        continuations[number] = continuation
        continuation.onTermination = { _ in ended(number) }
        return stream
    }

    package mutating func remove(_ number: Int) {
        continuations[number] = nil
    }

    package func report(_ change: Change) {
        for continuation in continuations.values {
            if case .dropped = continuation.yield(change) { continuation.yield(lost) }
        }
    }

    package func finish() {
        for continuation in continuations.values { continuation.finish() }
    }
}
