/// Operations timed in one run. Only ratios between measurements of one run mean anything: the machine is noisy.
struct Measurement {
    let name: String
    /// Of one operation, the median of the rounds.
    let median: Duration

    /// Times each operation `count` times a round, all of them in every round, so that what else the machine does meets
    /// them alike. Keeps the median of the rounds.
    static func take(
        rounds: Int = 9, count: Int, _ operations: [(name: String, run: () async throws -> Void)]
    ) async throws -> [Measurement] {
        var times = operations.map { _ in [Duration]() }
        for _ in 0..<rounds {
            for (index, operation) in operations.enumerated() {
                let start = ContinuousClock.now
                for _ in 0..<count { try await operation.run() }
                times[index].append(start.duration(to: .now) / count)
            }
        }
        return zip(operations, times).map { Measurement(name: $0.name, median: $1.sorted()[rounds / 2]) }
    }

    var microseconds: Double { Double(median.components.attoseconds) / 1e12 + Double(median.components.seconds) * 1e6 }
}

/// A table of measurements, each with its ratio to the first.
struct Comparison {
    let title: String
    /// The most that the last measurement may take, as a multiple of the first; `nil` when there is no limit.
    var limit: Double?
    var rows: [Measurement]

    func show() {
        print("\n\(title)")
        for row in rows {
            let ratio = row.microseconds / rows[0].microseconds
            print(
                "  \(Self.pad(row.name, 46)) \(Self.pad(Self.number(row.microseconds), 12)) µs   \(Self.number(ratio)) ×"
            )
        }
        if let limit, let last = rows.last {
            let ratio = last.microseconds / rows[0].microseconds
            print("  \(ratio <= limit ? "within" : "OVER") the limit of \(limit) ×")
        }
    }

    private static func pad(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
    }
}
