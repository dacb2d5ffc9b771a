public import LatchkeyCredentials

extension VaultStore {
    /// In a database, a table of the vault's own. Beside a file, as `NAME.leases`: whoever shares the file shares its
    /// leases, whatever else their environments have in common. Nothing is waited for, and nothing thrown.
    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        guard case .file(let path) = place else { return LeaseDirectory(rows) }
        return LeaseDirectory(
            path: path.directory, fileName: String(path.file.split(separator: "/").last ?? "vault") + ".leases")
    }
}
