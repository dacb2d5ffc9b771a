import LatchkeyStoreContract
import Testing
import TestServices

/// The contract of all stores, each statement with a gnome-keyring and a process of its own.
struct KeyringContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let session = try await PrivateSession(.unlocked)
        let probe = try KeyringProbe(session)
        let answer = try await probe.ask("contract", statement.statement, within: .seconds(300))
        #expect(answer == ["kept"])
    }

    @Test(arguments: ContractCase.items)
    func `keeps items as every store does`(_ statement: ContractCase) async throws {
        let session = try await PrivateSession(.unlocked)
        let answer = try await KeyringProbe(session).ask("contract", statement.statement)
        #expect(answer == ["kept"])
    }
}
