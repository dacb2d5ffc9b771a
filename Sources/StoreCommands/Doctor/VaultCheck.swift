internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal
internal import LatchkeyVault

/// How the vault is.
struct VaultCheck {
    let settings: StoreSettings
    /// Whether the vault is the chosen store, so that what is wrong with it matters.
    let matters: Bool

    /// Returns the vault too where it could be opened without asking anybody.
    func findings() async throws(StoreError) -> (findings: [Finding], vault: VaultStore?) {
        let path = LoggableText(reviewed: "the path of the vault", unredacted: settings.vaultPath)
        guard matters || (StoreCatalogue.standard["vault"]?.exists(settings) ?? false) else {
            return ([.note("vault", "there is none at \(path)")], nil)
        }
        let outline: VaultOutline
        do throws(StoreError) {
            outline = try await VaultStore.outline(at: settings.vaultPath, deadline: settings.deadline)
        } catch {
            if error.code == .cancelled { throw error }
            // A vault that is there and can't be used is wrong, whatever store is chosen.
            let isWrong = matters || error.code != .unavailable
            let explained = settings.explained(error, wasUsed: matters)
            return (
                [
                    explained.map { .refusal("vault", $0, matters: isWrong) }
                        ?? .refusal("vault", error, matters: isWrong)
                ], nil
            )
        }
        let kinds = outline.slots.map { "\($0.kind)" as LogMessage }
        let file = Finding.good(
            "vault", "\(path), yours alone; key slots: \(LogMessage.joined(kinds))")
        do throws(StoreError) {
            let vault = try await settings.openVault()
            return ([file, try await integrity(of: vault)], vault)
        } catch {
            switch error.code {
            case .cancelled: throw error
            case .locked where matters && outline.opensWithKeyFileAlone:
                // Nobody can be asked for it: until its key is named, the vault is of no use.
                return ([file, .refusal("integrity", error, matters: true)], nil)
            case .locked:
                return (
                    [
                        file,
                        .note(
                            "integrity", "not checked: no key was given, and the doctor asks for none",
                            remedy: "latchkey vault verify"),
                    ], nil
                )
            default: return ([file, .refusal("integrity", error, matters: true)], nil)
            }
        }
    }

    private func integrity(of vault: VaultStore) async throws(StoreError) -> Finding {
        let found = try await vault.verify(deadline: .after(.seconds(600)))
        guard found.isSound else {
            return .problem(
                "integrity", .badData, LogMessage.counted(found.problems.count, "problem", "problems"),
                remedy: "latchkey vault verify names them")
        }
        return .good("integrity", "\(LogMessage.credentials(found.itemCount)), all sound")
    }
}

extension VaultOutline {
    fileprivate var opensWithKeyFileAlone: Bool { slots.allSatisfy { $0.kind == .keyFile } }
}
