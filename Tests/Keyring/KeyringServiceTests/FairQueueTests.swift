internal import Glibc
internal import LatchkeySystem
internal import Synchronization
@testable import LatchkeyKeyringService
internal import Testing

struct FairQueueTests {
    private final class Done: Sendable {
        private let elements = Mutex<[(element: String, thread: UInt)]>([])
        var all: [(element: String, thread: UInt)] { elements.withLock { $0 } }
        func add(_ element: String) { elements.withLock { $0.append((element, UInt(pthread_self()))) } }
    }

    /// That saves two changes of threads for each call.
    @Test func `what a thread hosts is done before it goes on, and what others offer is not done there`() async {
        let queue = FairQueue<String>()
        let executor = CallExecutor()
        let done = Done()
        let worker = Task(executorPreference: executor) {
            while let element = await queue.next() {
                done.add(element)
            }
        }
        _ = queue.offer("other", of: "a")
        while done.all.isEmpty { try? await Task.sleep(for: .milliseconds(1)) }
        // On a thread of its own, because this one's is Swift's.
        let host: UInt = await withCheckedContinuation { continuation in
            _ = try? SystemThread.detach {
                // Until the worker waits: before that it takes the element itself, on its own thread.
                var count = 1
                repeat {
                    count += 1
                    _ = executor.hosting { queue.offer("hosted", of: "a") }
                    while done.all.count < count { usleep(1000) }
                } while done.all.last?.thread != UInt(pthread_self()) && count < 1000
                continuation.resume(returning: UInt(pthread_self()))
            }
        }
        #expect(done.all.last?.element == "hosted" && done.all.last?.thread == host)
        #expect(done.all.first?.thread != host)
        queue.close()
        await worker.value
    }

    @Test func `clients take turns, however much one of them sends`() async {
        let queue = FairQueue<String>()
        for number in 0..<100 { #expect(queue.offer("flood \(number)", of: ":1.1")) }
        #expect(queue.offer("a", of: ":1.2"))
        #expect(queue.offer("b", of: ":1.3"))
        #expect(queue.offer("c", of: ":1.2"))
        var order: [String] = []
        for _ in 0..<6 { order.append(await queue.next() ?? "-") }
        #expect(order == ["flood 0", "a", "b", "flood 1", "c", "flood 2"])
    }

    @Test func `two clients that fill the queue have no small call of another one refused`() {
        let queue = FairQueue<String>()
        var clients = ["x", "y"][...]
        while let client = clients.first {
            if !queue.offer("large", of: client, byteCount: 8 << 20) { clients.removeFirst() }
        }
        #expect(!queue.offer("large", of: "z", byteCount: 1 << 20))
        #expect(queue.offer("small", of: "z", byteCount: 4 << 10))
        #expect(!queue.offer("second", of: "z", byteCount: 4 << 10))
    }

    @Test func `small calls pass large ones, which are still served`() async {
        let queue = FairQueue<String>()
        for client in ["x", "y", "z"] { #expect(queue.offer("large " + client, of: client, byteCount: 4 << 20)) }
        for number in 0..<10 { #expect(queue.offer("small \(number)", of: "s", byteCount: 100)) }
        var order: [String] = []
        for _ in 0..<13 { order.append(await queue.next() ?? "-") }
        #expect(order == (0..<10).map { "small \($0)" } + ["large x", "large y", "large z"])
    }

    @Test func `clients with long calls let others pass, and still get their turns`() async {
        let queue = FairQueue<String>()
        // One has more waiting, the other has not.
        #expect(queue.offer("a first", of: "a"))
        #expect(queue.offer("b first", of: "b"))
        #expect(queue.offer("a second", of: "a", byteCount: 1))
        #expect(await queue.next() == "a first")
        queue.charge("a", turns: 5)
        #expect(await queue.next() == "b first")
        queue.charge("b", turns: 3)
        #expect(queue.offer("b second", of: "b", byteCount: 1))
        for number in 0..<3 { #expect(queue.offer("c \(number)", of: "c")) }
        var order: [String] = []
        for _ in 0..<5 { order.append(await queue.next() ?? "-") }
        #expect(order == ["c 0", "c 1", "c 2", "b second", "a second"])
    }

    @Test func `the rest of a long call comes with its client's next turn, before its other calls`() async {
        let queue = FairQueue<String>()
        #expect(queue.offer("long", of: "a"))
        #expect(queue.offer("after it", of: "a"))
        #expect(queue.offer("b", of: "b"))
        #expect(await queue.next() == "long")
        queue.putBack("rest", of: "a")
        queue.charge("a", turns: 2)
        #expect(queue.offer("b again", of: "b"))
        var order: [String] = []
        for _ in 0..<4 { order.append(await queue.next() ?? "-") }
        #expect(order == ["b", "b again", "rest", "after it"])
        // Where nothing of it waits, and where the worker does.
        queue.putBack("alone", of: "a")
        #expect(await queue.next() == "alone")
        async let next = queue.next()
        await Task.yield()
        queue.putBack("at once", of: "a")
        #expect(await next == "at once")
    }

    @Test func `the longest time that a client took is paid within 128 turns`() async {
        let queue = FairQueue<String>()
        for _ in 0..<10 { queue.charge("a", turns: 1_000_000) }
        #expect(queue.offer("a", of: "a"))
        var count = 0
        while count < 1000 {
            #expect(queue.offer("b", of: "b"))
            if await queue.next() == "a" { break }
            count += 1
        }
        #expect(count < 130)
        queue.charge("a", turns: 100)
        queue.forget("a")
        #expect(queue.offer("b", of: "b"))
        #expect(queue.offer("a", of: "a"))
        #expect(await queue.next() == "b")
        #expect(await queue.next() == "a")
    }

    @Test func `small calls don't delay large ones indefinitely`() async {
        let queue = FairQueue<String>()
        #expect(queue.offer("large", of: "x", byteCount: 4 << 20))
        var count = 0
        while count < 100 {
            #expect(queue.offer("small", of: "s", byteCount: 100))
            if await queue.next() == "large" { break }
            count += 1
        }
        #expect(count == 15)
    }

    @Test func `calls of one client stay in order`() async {
        let queue = FairQueue<Int>()
        for number in 0..<200 { #expect(queue.offer(number, of: ":1.1")) }
        for number in 0..<200 { #expect(await queue.next() == number) }
        // Again, now that the lane was empty once.
        for number in 0..<300 {
            #expect(queue.offer(number, of: ":1.1"))
            #expect(await queue.next() == number)
        }
    }

    @Test func `calls of one client beyond 16,384 waiting ones are refused, and other clients' are not`() async {
        let queue = FairQueue<Int>()
        for number in 0..<16_384 { #expect(queue.offer(number, of: ":1.1")) }
        #expect(!queue.offer(16_384, of: ":1.1"))
        #expect(queue.offer(0, of: ":1.2"))
        // What this process itself has to say always is heard.
        #expect(queue.offer(257, of: ":1.1", isOwn: true))
        _ = await queue.next()
        _ = await queue.next()
        _ = await queue.next()
        #expect(queue.offer(258, of: ":1.1"))
    }

    @Test func `the waiting bytes are bounded, for one client and for all`() async {
        let queue = FairQueue<Int>()
        let piece = 12 << 20
        for number in 0..<4 { #expect(queue.offer(number, of: ":1.1", byteCount: piece)) }
        #expect(!queue.offer(4, of: ":1.1", byteCount: 1))
        for number in 0..<2 { #expect(queue.offer(number, of: ":1.2", byteCount: piece)) }
        #expect(!queue.offer(2, of: ":1.2", byteCount: piece))
        #expect(queue.offer(0, of: ":1.3", byteCount: 8 << 20))
        #expect(!queue.offer(0, of: ":1.4", byteCount: 1 << 20))
        _ = await queue.next()
        #expect(queue.offer(0, of: ":1.4", byteCount: 1 << 20))
    }

    @Test func `a worker that waits gets the next call, and the end`() async {
        let queue = FairQueue<Int>()
        async let first = queue.next()
        // Whether it waits already or not.
        await Task.yield()
        #expect(queue.offer(1, of: ":1.1"))
        #expect(await first == 1)
        async let last = queue.next()
        await Task.yield()
        queue.close()
        #expect(await last == nil)
        #expect(await queue.next() == nil)
        #expect(!queue.offer(2, of: ":1.1"))
    }
}
