public import LatchkeyLog
public import LatchkeySecrets

/// An order of the shop.
public struct Order: Sendable {
    public let number: Int
    public let state: State

    public enum State: Sendable, Loggable {
        case open, shipped

        // Safe: words of ours.
        public var logMessage: LogMessage {
            switch self {
            case .open: "open"
            case .shipped: "shipped"
            }
        }
    }

    public init(number: Int, state: State) {
        self.number = number
        self.state = state
    }
}

extension Order: Loggable {
    // Safe: the number and the state are shown to every customer.
    public var logMessage: LogMessage { "order \(number), \(state)" }
}

/// Sends orders to a warehouse that wants a token.
public struct OrderDesk: Sendable {
    private let log: RedactedLogger

    public init(log: RedactedLogger) {
        self.log = log
    }

    /// Logs what it does; `log.info("\(token)")` would not compile.
    public func place(_ order: Order, with token: borrowing Secret<AccessToken>) {
        log.with("order", order.number).info("placed \(order) with a token of \(token.byteCount) bytes")
    }

    /// What the types can't stop: a person copies the bytes out on purpose and calls the text reviewed. The audit finds
    /// it.
    public func placeCarelessly(_ order: Order, with token: borrowing Secret<AccessToken>) {
        let text = token.withExposedBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        log.info("placed \(order) with \(LoggableText(reviewed: "it was late, and nobody looked", unredacted: text))")
    }
}
