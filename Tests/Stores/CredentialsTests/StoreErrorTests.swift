import LatchkeyCredentials
import LatchkeyLog
import Testing

@Suite struct StoreErrorTests {
    @Test func `every code has a separate name, for programs`() {
        let names = StoreError.Code.allCases.map { "\($0.name)" }
        #expect(Set(names).count == names.count)
        #expect(names.allSatisfy { $0.hasPrefix("store.") && $0.allSatisfy { $0.isLowercase || ".-".contains($0) } })
        #expect(names.contains("store.locked") && names.contains("store.timed-out"))
    }

    @Test func `an error shows its cause, its code and the platform's number`() {
        let plain = StoreError(.locked, "the keyring is locked", hint: "unlock it")
        #expect("\(plain)" == "the keyring is locked [store.locked]")
        #expect(plain.hint?.text == "unlock it" && plain.codeName.description == "store.locked")
        let numbered = StoreError(.cannotWrite, "the disk is full", platform: .errno(28))
        #expect(String(reflecting: numbered) == "the disk is full [store.cannot-write] errno=28")
        #expect(StoreError.cancelled.code == .cancelled && StoreError.timedOut.code == .timedOut)
        #expect(StoreError.timedOut.hint != nil)
    }

    @Test func `a deadline passes, and then no time is left`() {
        let passed = Deadline(.now - .seconds(1))
        #expect(passed.hasPassed && passed.remaining == .zero)
        let future = Deadline.after(.seconds(3600))
        #expect(!future.hasPassed && future.remaining > .seconds(3000))
        #expect(!Deadline.standard.hasPassed && Deadline.standard.remaining <= .seconds(30))
    }

    @Test func `a version is logged by its first four bytes`() {
        let version = CredentialVersion(bytes: [0x01, 0xAB, 0xFF, 0x00, 0x99, 0x99])
        #expect(version.logMessage.text == "01abff00")
    }

    @Test func `unknown operations of a plain store are refused as unsupported`() async throws {
        let store = PagedStore(pages: [])
        for refused in [
            await Self.code { () async throws(StoreError) in _ = try await store.changes(deadline: .standard) },
            await Self.code { () async throws(StoreError) in try await store.lock(deadline: .standard) },
            await Self.code { () async throws(StoreError) in try await store.unlock(deadline: .standard) },
        ] {
            #expect(refused == .unsupported)
        }
    }

    static func code(_ body: () async throws(StoreError) -> Void) async -> StoreError.Code? {
        do throws(StoreError) {
            try await body()
            return nil
        } catch {
            return error.code
        }
    }
}
