public import LatchkeyCredentials

extension VaultStore {
    /// Beside the vault, as `NAME.leases`: whoever shares the file shares its leases, whatever else their environments
    /// have in common. Nothing is waited for, and nothing thrown.
    public func leases(in directory: LeaseDirectory, deadline: Deadline) async throws(StoreError) -> LeaseDirectory {
        LeaseDirectory(
            path: path.directory, fileName: String(path.file.split(separator: "/").last ?? "vault") + ".leases")
    }
}
