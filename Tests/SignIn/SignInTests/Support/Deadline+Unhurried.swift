import LatchkeyCredentials

extension Deadline {
    /// For what is not about deadlines: the whole suite runs at once, and a single step may wait long for its turn.
    static var unhurried: Deadline { .after(.seconds(600)) }
}
