import Foundation
import LatchkeyCredentials
import LatchkeyVault
import Testing
import TestServices

/// A vault on a server, opened with what systemd passes to the unit, by the names that a unit file has.
@Suite struct NamedCredentialTests {
    @Test func `a vault opens with the credential of a name, and a text that names none is refused`() async throws {
        let directory = try TestDirectory()
        let credentials = directory / "credentials"
        try FileManager.default.createDirectory(
            atPath: credentials, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o500])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: credentials)
        let file = credentials + "/bank"
        try Data((0..<32).map { UInt8($0) }).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: file)
        let path = directory / "vault/vault"
        _ = try await VaultStore.create(
            at: path, unlockedBy: .systemCredential(named: "bank", in: credentials), cost: .least)
        let opened = try await VaultStore.open(
            at: path, unlockedBy: .systemCredential(named: "bank", in: credentials))
        #expect(try await opened.slots().map(\.kind) == [.systemCredential])
        for name in ["", "a/b", "..", "a:b"] {
            let code: StoreError.Code?
            do throws(StoreError) {
                _ = try VaultKeySource.systemCredential(named: name, in: credentials)
                code = nil
            } catch {
                code = error.code
            }
            #expect(code == .unsupported, "\(name)")
        }
    }
}
