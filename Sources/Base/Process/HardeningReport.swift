public import LatchkeyLog

/// What protects this process, and what could not be applied.
public struct HardeningReport: Sendable, Hashable {
    package enum Measure: Sendable, Hashable, CaseIterable, Loggable {
        /// Descriptors 0 to 2 are open, so that no file of ours can take their place.
        case standardDescriptors
        /// `RLIMIT_CORE` is 0.
        case noCoreDump
        /// `PR_SET_DUMPABLE` is 0: no core dump, and no other process of the same user reads this one's memory.
        case notDumpable
        /// A crash prints no backtrace, which would show bytes of memory.
        case noBacktrace
        /// Variables that make libraries print what they send are removed.
        case noDebugVariables
        /// Larger pieces of the C heap are overwritten as they are freed (mallopt(3), `M_PERTURB`): with glibc 2.36
        /// those above 1,032 bytes, because smaller ones go to a thread's cache as they are.
        case largeFreedMemoryOverwritten
        /// All of the C heap is overwritten as it is freed. Only Latchkey's own programs have it.
        case freedMemoryOverwritten
        /// No call is bound when it is first made, which would save registers, and what they hold, on the stack. Only
        /// Latchkey's own programs have it; others get it from `LD_BIND_NOW=1` in their environment (ld.so(8)).
        case functionsBound
        /// `no_new_privs`: no program that is started from now on gets more rights than this one has (execve(2)).
        case noNewPrivileges

        /// Safe: words of ours.
        package var logMessage: LogMessage {
            switch self {
            case .standardDescriptors: "standard descriptors open"
            case .noCoreDump: "core dumps off"
            case .notDumpable: "not dumpable"
            case .noBacktrace: "backtraces off"
            case .noDebugVariables: "debug variables removed"
            case .largeFreedMemoryOverwritten: "freed memory above 1,032 bytes overwritten"
            case .freedMemoryOverwritten: "freed memory overwritten"
            case .functionsBound: "functions bound"
            case .noNewPrivileges: "no new privileges"
            }
        }
    }

    package private(set) var applied: [Measure] = []
    /// With the errno that the system gave, or 0.
    package private(set) var refused: [Refusal] = []

    /// What was not asked for: `noNewPrivileges` in a process that starts programs of others, which may need theirs.
    package private(set) var leftOut: [Measure] = []

    package struct Refusal: Sendable, Hashable {
        package let measure: Measure
        package let number: Int32
    }

    mutating func leaveOut(_ measure: Measure) { leftOut.append(measure) }

    package mutating func note(_ measure: Measure, number: Int32?) {
        leftOut.removeAll { $0 == measure }
        if let number {
            refused.append(Refusal(measure: measure, number: number))
        } else {
            applied.append(measure)
        }
    }
}

extension HardeningReport: Loggable {
    // Safe: words of ours and error numbers.
    public var logMessage: LogMessage {
        var message: LogMessage = "process hardened: \(LogMessage.joined(applied.map(\.logMessage)))"
        if !refused.isEmpty {
            let missing = LogMessage.joined(refused.map { "\($0.measure) (errno \($0.number))" })
            message = "\(message); refused: \(missing)"
        }
        if !leftOut.isEmpty {
            let missing = LogMessage.joined(leftOut.map(\.logMessage))
            message = "\(message); left out, since other programs are started: \(missing)"
        }
        return message
    }
}
