internal import CLatchkeyLinux
internal import LatchkeyVault

/// How the vault is.
struct VaultCheck {
    let settings: StoreSettings
    /// Whether the vault is the chosen store, so that what is wrong with it matters.
    let matters: Bool
    /// Whether other commands may ask the person, as the doctor may not.
    let mayPrompt: Bool

    /// Returns the vault too if it opens without a question.
    func findings() async throws(StoreError) -> (findings: [Finding], vault: VaultStore?) {
        let path = LoggableText(reviewed: "the path of the vault", unredacted: settings.vaultPath)
        guard matters || (StoreCatalogue.standard["vault"]?.exists(settings) ?? false) else {
            return ([.note("vault", "no vault at \(path)")], nil)
        }
        let locked: LockedVault
        do throws(StoreError) {
            locked = try await settings.lockedVault()
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
        let kinds = locked.slots.map { "\($0.kind)" as LogMessage }
        let isDatabase = VaultLocation.isDatabase(settings.vaultPath)
        let whose: LogMessage = isDatabase ? "in a database" : "yours alone"
        let file = Finding.good("vault", "\(path), \(whose); key slots: \(LogMessage.joined(kinds))")
        do throws(StoreError) {
            let database =
                isDatabase
                ? try await VaultStore.databaseState(at: settings.vaultPath, deadline: settings.deadline).findings : []
            let vault = try await settings.unlock(locked)
            var rest = [try await integrity(of: vault)]
            if !isDatabase, unsafe latchkey_is_mount(settings.vaultPath) != 0 {
                rest.append(
                    .note(
                        "vault", "mounted without its directory, so Latchkey doesn't change it",
                        remedy: "mount the directory that contains the vault"))
            }
            if case .unavailable(let error) = vault.rollback {
                rest.append(
                    .note(
                        "rollback", "Latchkey can't detect that the vault was restored: \(error)",
                        remedy: "make the directory `latchkey` in XDG_STATE_HOME (~/.local/state) writable"))
            }
            return ([file] + database + rest, vault)
        } catch {
            switch error.code {
            case .cancelled: throw error
            // A key is missing. The vault is useless until the key is there, unless the person can enter another key.
            case .locked where error.hint != nil || !settings.searchesVaultKey:
                return ([file, .refusal("integrity", error, matters: matters && !isAsked(for: locked))], nil)
            case .locked:
                return (
                    [
                        file,
                        .note(
                            "integrity", "not checked: the vault is locked, and doctor asks for no passphrase",
                            remedy: "run `latchkey vault verify`"),
                    ], nil
                )
            default: return ([file, .refusal("integrity", error, matters: true)], nil)
            }
        }
    }

    private func isAsked(for vault: LockedVault) -> Bool {
        mayPrompt && settings.searchesVaultKey
            && vault.slots.contains {
                $0.kind == .passphrase && SecretPrompt(isAllowed: true).isPossible
                    || $0.kind == .secretService && settings.hasDisplay
            }
    }

    private func integrity(of vault: VaultStore) async throws(StoreError) -> Finding {
        let found = try await vault.verify(deadline: .after(.seconds(600)))
        guard found.isSound else {
            return .problem(
                "integrity", .badData, LogMessage.counted(found.problems.count, "problem", "problems"),
                remedy: "run `latchkey vault verify`")
        }
        return .good("integrity", "\(LogMessage.credentials(found.itemCount)), all intact")
    }
}

extension DatabaseState {
    /// The findings about weak settings.
    fileprivate var findings: [Finding] {
        var findings: [Finding] = []
        let connection: LogMessage = isEncrypted ? "with TLS" : "without TLS"
        if isLocal || isEncrypted && checksServer {
            findings.append(
                .good("database", isLocal ? "on this machine" : "reached with TLS, and its name is verified"))
        } else {
            findings.append(
                .problem(
                    "database", .configuration,
                    "reached over the network \(connection), without verifying the server",
                    remedy:
                        "add sslmode=verify-full to the vault's URI, and sslrootcert=FILE with its certificate authority"
                ))
        }
        if !isDurable {
            findings.append(
                .problem(
                    "database", .configuration, "changes can be lost: synchronous_commit or fsync is off",
                    remedy: "turn both on for this database or role"))
        } else if !hasStandby {
            findings.append(.note("database", "no synchronous standby: if its disk fails, changes are lost"))
        } else if !isStandbyConnected {
            findings.append(
                .problem(
                    "database", .unavailable, "changes wait for a standby, but none is connected",
                    remedy: "start the standby, or empty synchronous_standby_names"))
        }
        if isPooled {
            findings.append(.note("database", "behind a connection pooler, which hides other processes' changes"))
        }
        return findings
    }
}

extension StoreSettings {
    /// Whether no key of the vault was set.
    fileprivate var searchesVaultKey: Bool {
        if case .search = vaultKey { true } else { false }
    }
}
