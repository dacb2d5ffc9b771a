internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySecretService
internal import LatchkeyStoreSelection
internal import LatchkeySystem

extension ImportCommand.Source {
    /// What a program keeps in its plain-text file, and what its own helper keeps in the keyring.
    ///
    /// - Parameter isNamed: whether the person named the file: then it is meant alone, and has to be there.
    func withKeyring(_ path: String, isNamed: Bool, _ context: CommandContext) async throws -> ImportCommand.Read {
        if isNamed { return ImportCommand.Read(try await file(path, context.environment)) }
        let found: CredentialImport? = try await nilIf(
            { (error: any Error) in (error as? ImportError)?.isAbsence ?? false },
            awaiting: await file(path, context.environment))
        var read = try found ?? CredentialImport()
        let others = try InMemoryStore()
        // Where there is no keyring, nothing is in it.
        let keyring = SecretServiceStore(
            SecretServiceConfiguration(
                mayPrompt: context.settings.mayPrompt, coordination: context.settings.leases))
        _ = try await nilIf(
            { (error: StoreError) in error.code == .unavailable },
            awaiting: await keyring.copyForeign(to: others, having: shape, deadline: context.deadline))
        let transfer = Transfer(from: others, to: read.store, mode: .copy)
        for entry in try await others.list(deadline: context.deadline).all() {
            if try await transfer.transfer(entry.key, deadline: context.deadline) == .differs {
                let name = LoggableText(reviewed: "names are what a listing shows", unredacted: entry.key.service)
                read.skip("\(name) in the keyring")
            }
        }
        return ImportCommand.Read(read)
    }

    private func file(_ path: String, _ environment: ProgramEnvironment) async throws -> CredentialImport {
        switch self {
        case .docker: try await DockerLogins.read(path)
        case .gcm: try await GitCredentialManagerFiles.read(path)
        default:
            try await CargoTokens.read(path) { registry in
                let name = registry.uppercased().replacing("-", with: "_")
                return environment["CARGO_REGISTRIES_\(name)_INDEX"]
            }
        }
    }

    /// The attribute by which the program's helper finds its items.
    private var shape: ItemAttributes {
        let (name, value) =
            switch self {
            case .docker: ("docker_cli", "1")
            case .gcm: ("xdg:schema", "com.microsoft.GitCredentialManager")
            default: ("xdg:schema", "org.rust-lang.cargo.registry")
            }
        return ItemAttributes(ofOthers: [name: value])
    }
}
