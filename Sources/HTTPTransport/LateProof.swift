internal import Glibc
internal import Secrets

/// The `DPoP` field of a request that is already on its way: the caller's thread makes it while the engine's connects.
@safe final class LateProof: @unchecked Sendable {
    // Sendable: the caller's thread writes `line` before it posts the semaphore, the engine's reads it after it has waited.

    private let arrival = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    private var line: HeaderLines?
    /// The engine's thread's own.
    private var hasArrived = false

    init() {
        unsafe sem_init(arrival, 0, 0)
    }

    deinit {
        unsafe sem_destroy(arrival)
        unsafe arrival.deallocate()
    }

    /// Called once, by the caller's thread; `nil` when there is no proof.
    func give(_ proof: consuming Secret<MessageBody>?) {
        if proof != nil {
            line = try? HeaderLines(fields: [], authorization: nil, proof: proof, withoutDefaults: [])
        }
        unsafe sem_post(arrival)
    }

    /// Called by the engine's thread, for each time that the request is about to be sent. Waits for the proof and puts it
    /// behind the other lines; returns false when there is none, and nothing must be sent.
    func join(_ lines: borrowing HeaderLines) -> Bool {
        if !hasArrived {
            while unsafe sem_wait(arrival) != 0 {}
            hasArrived = true
            line?.follow(lines)
        }
        return line != nil
    }
}
