internal import Synchronization

/// Work of several clients for one worker: a queue for each client, served in turn, so that a busy client only delays
/// itself.
final class FairQueue<Element: Sendable>: Sendable {
    /// Of one client; what it sends beyond is refused. libsecret asks for the properties of all items that it found at
    /// once, and fails as a whole when one call is refused.
    static var maximumCount: Int { 16_384 }
    /// The limit for one client, and for all, in bytes: ten thousand small calls of a client, or a few of the largest.
    static var maximumByteCount: Int { 48 << 20 }
    static var maximumTotalByteCount: Int { 80 << 20 }
    private static var smallByteCount: Int { 64 << 10 }
    private static var creditOfTurn: Int { 256 << 10 }
    /// The limit of a client's debt, in turns, for much of the worker's time.
    private static var maximumDebt: Int { 128 }

    private struct Lane {
        /// In order of arrival; those before `first` are done.
        var elements: [(element: Element, byteCount: Int)?] = []
        var first = 0
        var byteCount = 0
        /// In bytes: what it may have done in this turn.
        var credit = 0
        var count: Int { elements.count - first }

        mutating func putBack(_ element: Element) {
            if first > 0 { first -= 1 } else { elements.insert(nil, at: 0) }
            elements[first] = (element, 0)
        }

        mutating func removeFirst() {
            guard let (_, byteCount) = elements[first] else { return }
            elements[first] = nil
            first += 1
            self.byteCount -= byteCount
            // Nothing is saved up.
            credit = min(0, credit - byteCount)
            if first > maximumCount {
                elements.removeFirst(first)
                first = 0
            }
        }
    }
    private struct State {
        var lanes: [String: Lane] = [:]
        /// The clients that have something waiting, in the order of their turns.
        var turns: [String] = []
        var firstTurn = 0
        var byteCount = 0
        /// The debts of clients without waiting work, in bytes.
        var debts: [String: Int] = [:]
        var isClosed = false
        var waiter: CheckedContinuation<Element?, Never>?
    }
    private let state = Mutex(State())

    /// Puts an element behind the others of a client. Returns false when too much of it waits already.
    ///
    /// - Parameter isOwn: of this process itself, which bounds what it offers.
    func offer(_ element: Element, of client: String, byteCount: Int = 0, isOwn: Bool = false) -> Bool {
        let (isTaken, waiter): (Bool, CheckedContinuation<Element?, Never>?) = state.withLock { state in
            if state.isClosed { return (false, nil) }
            if let waiter = state.waiter.take() { return (true, waiter) }
            var lane =
                state.lanes.removeValue(forKey: client)
                ?? Lane(credit: -(state.debts.removeValue(forKey: client) ?? 0))
            let isWithin =
                lane.count < Self.maximumCount && lane.byteCount + byteCount <= Self.maximumByteCount
                && (state.byteCount + byteCount <= Self.maximumTotalByteCount
                    // A client that sends one small call after another isn't refused because of others' floods.
                    || lane.count == 0 && byteCount <= Self.smallByteCount)
            if isOwn || isWithin {
                if lane.count == 0 { state.turns.append(client) }
                lane.elements.append((element, byteCount))
                lane.byteCount += byteCount
                state.byteCount += byteCount
            }
            if lane.count > 0 { state.lanes[client] = lane } else { state.debts[client] = -lane.credit }
            return (isOwn || isWithin, nil)
        }
        waiter?.resume(returning: element)
        return isTaken
    }

    /// Puts the rest of an element back at the front of the client's queue, for the client's next turn.
    func putBack(_ element: Element, of client: String) {
        let waiter: CheckedContinuation<Element?, Never>? = state.withLock { state in
            if state.isClosed { return nil }
            if let waiter = state.waiter.take() { return waiter }
            var lane =
                state.lanes.removeValue(forKey: client)
                ?? Lane(credit: -(state.debts.removeValue(forKey: client) ?? 0))
            if lane.count == 0 { state.turns.append(client) }
            lane.putBack(element)
            state.lanes[client] = lane
            return nil
        }
        waiter?.resume(returning: element)
    }

    /// The next element: the first of the client whose turn it is. `nil` once the queue was closed. One caller at a
    /// time.
    func next() async -> Element? {
        await withCheckedContinuation { continuation in
            let found: Element?? = state.withLock { state in
                if state.isClosed { return .some(nil) }
                if let element = Self.take(&state) { return element }
                state.waiter = continuation
                return nil
            }
            if let found { continuation.resume(returning: found) }
        }
    }

    /// Lets a client pass so many turns: it took the worker's time, in which others waited.
    func charge(_ client: String, turns: Int) {
        let cost = turns * Self.creditOfTurn
        let limit = Self.maximumDebt * Self.creditOfTurn
        state.withLock { state in
            if var lane = state.lanes.removeValue(forKey: client) {
                lane.credit = max(lane.credit - cost, -limit)
                state.lanes[client] = lane
            } else if cost > 0 {
                state.debts[client] = min(state.debts[client, default: 0] + cost, limit)
            }
        }
    }

    /// Forgets a client that has disconnected.
    func forget(_ client: String) { state.withLock { _ = $0.debts.removeValue(forKey: client) } }

    /// Drops what waits, and takes no more.
    func close() {
        let waiter = state.withLock { state in
            state.isClosed = true
            state.lanes = [:]
            state.turns = []
            state.firstTurn = 0
            return state.waiter.take()
        }
        waiter?.resume(returning: nil)
    }

    /// Takes the first element of the next client that may have its turn. One with large elements, or such as took
    /// long, pays for them in turns that it lets pass (deficit round robin), so that another one seldom waits for more
    /// than what is being done.
    private static func take(_ state: inout State) -> Element? {
        while state.firstTurn < state.turns.count {
            let client = state.turns[state.firstTurn]
            state.firstTurn += 1
            guard var lane = state.lanes.removeValue(forKey: client), let next = lane.elements[lane.first] else {
                continue
            }
            lane.credit += creditOfTurn
            let isTaken = next.byteCount <= lane.credit
            if isTaken {
                lane.removeFirst()
                state.byteCount -= next.byteCount
            }
            if lane.count > 0 {
                state.lanes[client] = lane
                state.turns.append(client)
            }
            if state.firstTurn > 1024 || state.firstTurn == state.turns.count {
                state.turns.removeFirst(state.firstTurn)
                state.firstTurn = 0
            }
            if isTaken { return next.element }
        }
        return nil
    }
}
