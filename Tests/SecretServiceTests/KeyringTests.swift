import TestServices
import Testing

/// The store on a real gnome-keyring.
struct KeyringTests {
    @Test func `what is saved is read, listed and deleted`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        #expect(try await probe.read("example.org", "ada") == nil)
        #expect(try await probe.save("example.org", "ada", "first")[0] == "saved")
        #expect(try await probe.save("example.org", "ada", "second")[0] == "saved")
        #expect(try await probe.read("example.org", "ada") == "second")
        #expect(
            try await probe.ask("list") == ["example.org/ada/password/Password for 'ada' on 'example.org'"])
        #expect(try await probe.ask("delete", "example.org", "ada", "password") == ["deleted"])
        #expect(try await probe.ask("delete", "example.org", "ada", "password") == ["none"])
        #expect(try await probe.read("example.org", "ada") == nil)
    }

    @Test func `a daemon restarted between two calls is found again`() async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        try await probe.save("example.org", "ada", "kept")
        try await session.restartDaemon()
        #expect(try await probe.read("example.org", "ada") == "kept")
        try await session.restartDaemon()
        #expect(try await probe.save("example.org", "ada", "new")[0] == "saved")
        #expect(try await probe.read("example.org", "ada") == "new")
    }
}
