public import LatchkeyCredentials

extension VaultStore {
    /// Beside the vault, as `NAME.leases`: whoever shares the file shares its leases, whatever else their environments
    /// have in common. Nothing is waited for.
    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        guard case .file(let path) = place else { return directory }
        return LeaseDirectory(
            path: path.directory, fileName: String(path.file.split(separator: "/").last ?? "vault") + ".leases")
    }
}
