internal import Synchronization

/// A number that the tasks of a case count together.
final class SharedCount: Sendable {
    private let number = Atomic(0)

    var value: Int { number.load(ordering: .sequentiallyConsistent) }

    /// Adds and returns the new number.
    @discardableResult
    func add(_ difference: Int) -> Int {
        number.add(difference, ordering: .sequentiallyConsistent).newValue
    }
}
