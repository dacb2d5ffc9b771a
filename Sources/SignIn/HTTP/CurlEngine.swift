internal import CLatchkeyCurl
internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// The private thread that runs a client's transfers. The first transfer starts it.
final class CurlEngine: Sendable {
    private enum Command: Sendable {
        case start(CurlTransfer, CheckedContinuation<Void, Never>)
        case cancel(CurlTransfer)
        case stop
    }

    private struct Running: Sendable {
        let thread: SystemThread
        let multi: CurlMultiHandle
    }

    private struct State: Sendable {
        var commands: [Command] = []
        var running: Running?

        /// Returns what to wake up, once the lock is free for the thread.
        mutating func post(_ command: Command) -> CurlMultiHandle? {
            commands.append(command)
            return running?.multi
        }
    }

    private let state = Mutex(State())

    // MARK: - From any thread

    /// Starts a transfer; the continuation is resumed when it has ended, whichever way.
    func start(_ transfer: CurlTransfer, continuation: CheckedContinuation<Void, Never>) {
        let multi: CurlMultiHandle? = state.withLock { state in
            if state.running == nil { state.running = spawn() }
            return state.running == nil ? nil : state.post(.start(transfer, continuation))
        }
        guard let multi else { return transfer.end(CURLE_FAILED_INIT, resuming: continuation) }
        multi.wakeUp()
    }

    /// Ends a transfer soon, wherever it is. Does nothing when it has ended.
    func cancel(_ transfer: CurlTransfer) {
        // A transfer that is still to be started sees the flag then.
        transfer.isCancelled.store(true, ordering: .releasing)
        let multi = state.withLock { state in state.running == nil ? nil : state.post(.cancel(transfer)) }
        multi?.wakeUp()
    }

    /// Ends the thread and waits for it. Not called on the thread itself, which keeps no client alive.
    func stop() {
        let running = state.withLock { state in
            if state.running != nil { _ = state.post(.stop) }
            return state.running.take()
        }
        guard let running else { return }
        running.multi.wakeUp()
        running.thread.join()
    }

    // MARK: - The thread

    private func spawn() -> Running? {
        guard let multi = CurlMultiHandle() else { return nil }
        // A closed connection is an error there rather than SIGPIPE.
        guard let thread = try? SystemThread(joinable: { self.run(multi) }) else { return nil }
        return Running(thread: thread, multi: multi)
    }

    private func run(_ multi: CurlMultiHandle) {
        var active: [UInt: CurlTransfer] = [:]
        while true {
            let commands = state.withLock { state in
                let commands = state.commands
                state.commands = []
                return commands
            }
            for command in commands {
                switch command {
                case .start(let transfer, let continuation):
                    begin(transfer, continuation, on: multi, active: &active)
                case .cancel(let transfer):
                    let address = transfer.address
                    guard active.removeValue(forKey: address) != nil else { continue }
                    end(transfer, CURLE_ABORTED_BY_CALLBACK, on: multi)
                case .stop:
                    for transfer in active.values { end(transfer, CURLE_ABORTED_BY_CALLBACK, on: multi) }
                    return
                }
            }
            multi.perform()
            while let done = unsafe multi.nextDone() {
                guard let transfer = active.removeValue(forKey: unsafe UInt(bitPattern: done.easy)) else { continue }
                unsafe end(transfer, done.result, on: multi)
            }
            multi.wait(milliseconds: 60_000)
        }
    }

    private func begin(
        _ transfer: CurlTransfer, _ continuation: CheckedContinuation<Void, Never>, on multi: CurlMultiHandle,
        active: inout [UInt: CurlTransfer]
    ) {
        if transfer.isCancelled.load(ordering: .acquiring) {
            transfer.end(CURLE_ABORTED_BY_CALLBACK, resuming: continuation)
            return
        }
        let setUp = transfer.begin(continuation)
        guard setUp == CURLE_OK else {
            transfer.end(setUp)
            return
        }
        guard unsafe multi.add(transfer.handle) else {
            transfer.end(CURLE_FAILED_INIT)
            return
        }
        active[transfer.address] = transfer
    }

    private func end(_ transfer: CurlTransfer, _ result: CURLcode, on multi: CurlMultiHandle) {
        unsafe multi.remove(transfer.handle)
        transfer.end(result)
    }
}
