import Foundation
import LatchkeyCredentials
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySystem
import Synchronization
import Testing
import TestSecrets
import TestServices

@testable import LatchkeySignIn

/// The browser and the desktop are the test; the socket between the handler and the sign-in is the real one.
struct SchemeUserAgentTests {
    private static let redirect = "com.example.app:/callback"
    private let temporary: TestDirectory
    private let folder: RedirectFolder
    private let server: ScriptedServer

    init() throws {
        temporary = try TestDirectory()
        folder = RedirectFolder(path: temporary.path + "/redirects")
        server = try ScriptedServer()
    }

    private func signIn(
        redirect: String = redirect, deadline: Deadline = .unhurried,
        desktop: @escaping @Sendable (_ address: String) async -> Void
    ) async throws {
        // Follows the link to where the authorization page sends the browser.
        let agent = SchemeUserAgent(
            .opener { link throws(UserAgentError) in
                do {
                    var address = link
                    while address.hasPrefix("http") {
                        address = try #require(try await Fetched.get(address).location)
                    }
                    await desktop(address)
                } catch {
                    throw .unavailable(.pageFailed)
                }
            }, folder: folder)
        try await server.signIn(
            agent, RedirectURI(redirect, allowingAnyPrivateScheme: true), deadline: deadline)
    }

    private static func deliver(_ address: String, to folder: RedirectFolder) -> Bool {
        let secret: Secret<MessageBody> = .test(address)
        return (try? folder.deliver(secret)) ?? false
    }

    private var mailboxes: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    }

    @Test(arguments: [redirect, "relay://oauth/callback"])
    func `the handler's response signs in, and nothing is left behind`(redirect: String) async throws {
        let taken = Mutex<[Bool]>([])
        try await signIn(redirect: redirect) { [folder] address in
            let isTaken = Self.deliver(address, to: folder)
            taken.withLock { $0.append(isTaken) }
        }
        #expect(server.queries.first?["redirect_uri"] == redirect)
        #expect(mailboxes.isEmpty)
    }

    @Test func `folder and socket belong to this user alone`() async throws {
        let modes = Mutex<[mode_t]>([])
        try await signIn { [folder] address in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            for path in [folder.path] + names.map({ folder.path + "/" + $0 }) {
                var status = stat()
                if unsafe lstat(path, &status) == 0 { modes.withLock { $0.append(status.st_mode & 0o7777) } }
            }
            _ = Self.deliver(address, to: folder)
        }
        #expect(modes.withLock { $0 } == [0o700, 0o600])
    }

    @Test(arguments: [0o770, 0o777] as [mode_t])
    func `a folder that others may write is refused`(mode: mode_t) async throws {
        unsafe mkdir(folder.path, 0o700)
        unsafe chmod(folder.path, mode)
        await #expect(throws: UserAgentError.unavailable(.cannotWaitForHandler(number: EACCES))) {
            try await signIn { _ in }
        }
    }

    @Test func `responses of another sign-in, and invalid ones, are refused and change nothing`() async throws {
        let refused = Mutex<[Bool]>([])
        try await signIn { [folder] address in
            let forged = [
                address.replacing("state=", with: "state=x"), address.replacing("/callback", with: "/other"),
                Self.redirect, Self.redirect + "?", Self.redirect + "?code=c",
                "com.example.other:/callback?code=c&state=s", "http://127.0.0.1/callback?code=c&state=s", "", ":",
                "com.example.app",
                Self.redirect + "?code=" + String(repeating: "c", count: 40_000),
            ]
            for address in forged {
                let isTaken = Self.deliver(address, to: folder)
                refused.withLock { $0.append(isTaken) }
            }
            _ = Self.deliver(address, to: folder)
        }
        #expect(refused.withLock { $0 } == Array(repeating: false, count: 11))
    }

    @Test func `of two sign-ins that wait for one scheme each gets its own response`() async throws {
        let first = Pending<String>()
        let second = Pending<String>()
        async let one: Void = signIn { [folder] address in
            first.complete(address)
            // Only when both wait.
            _ = await second.value()
            #expect(Self.deliver(address, to: folder))
        }
        async let two: Void = signIn { [folder] address in
            second.complete(address)
            _ = await first.value()
            #expect(Self.deliver(address, to: folder))
        }
        try await one
        try await two
        #expect(mailboxes.isEmpty)
    }

    @Test func `a response is accepted once, and then the sign-in no longer waits`() async throws {
        let address = Pending<String>()
        try await signIn { [folder] response in
            _ = Self.deliver(response, to: folder)
            address.complete(response)
        }
        #expect(!Self.deliver(await address.value(), to: folder))
    }

    @Test func `leftovers of a killed sign-in are removed`() async throws {
        do {
            let mailbox = try folder.mailbox(for: "com.example.app")
            withExtendedLifetime(mailbox) { #expect(mailboxes.count == 1) }
        }
        // Nobody listens any more, and the name is still there.
        #expect(mailboxes.count == 1)
        #expect(!Self.deliver(Self.redirect + "?code=c&state=s", to: folder))
        #expect(mailboxes.isEmpty)
    }

    @Test func `connections from another user's program are refused`() async throws {
        // Only root can be somebody else.
        guard geteuid() == 0 else { return }
        let script = """
            import os, socket, sys
            os.setgid(65534); os.setuid(65534)
            connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            connection.connect(sys.argv[1])
            print("connected")
            try:
                connection.send(sys.argv[2].encode())
                print(connection.recv(1))
            except (ConnectionResetError, BrokenPipeError):
                print(b"")
            """
        let counts = Mutex<[String]>([])
        try await signIn { [folder, temporary] address in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
            let path = folder.path + "/" + (names.first ?? "")
            // As careless as can be: the modes would let everybody in.
            for open in [temporary.path, folder.path, path] { unsafe chmod(open, 0o777) }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
            process.arguments = ["-c", script, path, address]
            let output = Pipe()
            process.standardOutput = output
            try? process.run()
            process.waitUntilExit()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            counts.withLock { $0.append(text) }
            _ = Self.deliver(address, to: folder)
        }
        #expect(counts.withLock { $0 } == ["connected\nb''\n"])
    }

    @Test func `the deadline passes without a response, and other redirects are refused`() async throws {
        // Whether the page was opened by then is the machine's affair.
        let error = await #expect(throws: UserAgentError.self) {
            try await signIn(deadline: .after(.milliseconds(200))) { _ in }
        }
        #expect(error == .timedOut || error == .pageNeverOpened)
        #expect(mailboxes.isEmpty)
        let agent = SchemeUserAgent(.opener { _ in }, folder: folder)
        await #expect(throws: UserAgentError.unavailable(.noPrivateScheme)) {
            _ = try await agent.begin(.loopback(path: "/callback"))
        }
    }

    /// Its thread ended without a word when there were no descriptors left, and the sign-in waited for its deadline.
    @Test(arguments: [EMFILE, ENFILE, ENOBUFS])
    func `a mailbox that can't accept connections any longer says why`(number: Int32) async throws {
        try LeaseDirectory(path: folder.path).prepare()
        let calls = Mutex(0)
        let mailbox = try RedirectMailbox(scheme: "com.example.app", in: folder.path) { _ in
            // Somebody who connects and goes again is no reason.
            errno = calls.withLock { calls in
                calls += 1
                return calls < 3 ? ECONNABORTED : number
            }
            return -1
        }
        let (failures, failed) = AsyncStream.makeStream(of: Int32.self)
        try mailbox.start(failed: { failed.yield($0.number) }) { _ in .foreign }
        var iterator = failures.makeAsyncIterator()
        #expect(await iterator.next() == number)
        #expect(calls.withLock { $0 } == 3)
        mailbox.stop()
    }

    @Test func `a mailbox that is stopped says nothing`() async throws {
        try LeaseDirectory(path: folder.path).prepare()
        let mailbox = try RedirectMailbox(scheme: "com.example.app", in: folder.path)
        let (ends, ended) = AsyncStream.makeStream(of: Int32.self)
        final class Goodbye: Sendable {
            let end: AsyncStream<Int32>.Continuation
            init(_ end: AsyncStream<Int32>.Continuation) { self.end = end }
            deinit { end.finish() }
        }
        // The thread lets go of both closures when it ends.
        func start() throws {
            let goodbye = Goodbye(ended)
            try mailbox.start(failed: { [goodbye] failure in goodbye.end.yield(failure.number) }) { _ in .foreign }
        }
        try start()
        mailbox.stop()
        for await number in ends { Issue.record("errno \(number)") }
    }
}
