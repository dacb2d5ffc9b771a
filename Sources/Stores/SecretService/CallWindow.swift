internal import LatchkeyDBus
internal import Synchronization

/// Keeps the calls that are under way below the number of pending replies that a bus allows a connection: 128,
/// where its configuration says nothing else (dbus-daemon(1), `max_replies_per_connection`).
final class CallWindow: Sendable {
    private static let width = 100

    private struct State {
        var underWay = 0
        var next = 0
        var first = 0
        var waiting: [Int: @Sendable () -> Void] = [:]
    }
    private let state = Mutex(State())

    /// Sends now or when it is its turn, on the thread for GLib, and in any case when the trigger is pulled: a call
    /// that is cancelled already ends without being sent. Each one that ends needs a `leave()`. Call both on the
    /// thread for GLib.
    func enter(_ trigger: Trigger, _ send: @escaping @Sendable () -> Void) {
        let place: Int? = state.withLock { state in
            guard state.underWay >= Self.width else {
                state.underWay += 1
                return nil
            }
            state.waiting[state.next] = send
            state.next += 1
            return state.next - 1
        }
        guard let place else { return send() }
        _ = trigger.onPull { [self] in
            // Triggers are pulled on any thread, and calls complete on the one that makes them.
            Task { @GLibThread in sendNow(place) }
        }
    }

    private func sendNow(_ place: Int) {
        let send = state.withLock { state in
            let send = state.waiting.removeValue(forKey: place)
            if send != nil { state.underWay += 1 }
            return send
        }
        send?()
    }

    func leave() {
        let send: (@Sendable () -> Void)? = state.withLock { state in
            state.underWay -= 1
            while state.first < state.next && state.underWay < Self.width {
                let send = state.waiting.removeValue(forKey: state.first)
                state.first += 1
                guard let send else { continue }
                state.underWay += 1
                return send
            }
            return nil
        }
        send?()
    }
}
