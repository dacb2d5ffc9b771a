internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// The kernel's keyring of this user (keyrings(7), user-keyring(7)), where a vault's root key stays for a while, as the
/// key `latchkey:vault:` and the vault's id.
///
/// The key is read by uid, not by possession: processes that systemd or another session's login started possess nothing
/// of the user's keyring, and shall find it too.
enum KernelKeyring {
    static let type = "user"
    private static let keyByteCount = 32
    /// View, read and search for the user's own processes, and nothing else: none changes the key or prolongs it.
    /// To link a key, its possessor needs one more.
    static let permissions = 0x1B0B_0000

    static func name(_ vault: VaultID) -> String { "latchkey:vault:" + vault.identifier }

    /// Throws `unavailable` if the kernel refuses a keyring for this process.
    static func check() throws(StoreError) {
        guard latchkey_keyctl(Int32(KEYCTL_GET_KEYRING_ID), Int(KEY_SPEC_USER_KEYRING), 1) >= 0 else {
            throw refused(errno)
        }
    }

    /// Returns the stored root key. Throws `locked` for a missing or expired key.
    private static func read(_ vault: VaultID) throws(StoreError) -> Secret<RootKey> {
        guard let key = try find(vault) else { throw locked }
        return try Secret(byteCount: keyByteCount) { (out) throws(StoreError) in
            let count = unsafe out.withUnsafeMutableBytes { unsafe latchkey_keyctl_read(key, $0.baseAddress, $0.count) }
            if count == keyByteCount { return }
            // Something else of that name, or its time has just ended.
            guard count < 0, !isAbsence(errno) else { throw locked }
            throw refused(errno)
        }
    }

    /// The kept keys of a vault, when they are its own: anyone with this uid can leave another key under that name.
    static func vaultKeys(
        of vault: VaultID, _ table: any RowTable, _ cancellation: Cancellation?
    ) throws(StoreError) -> VaultKeys {
        let keys = VaultKeys(try read(vault), vault: vault)
        let manifest = try table.read(cancellation) { (view) throws(StoreError) in try view.record(Manifest.recordName)
        }
        if failure(StoreError.self, of: try Manifest.open(manifest, keys)) != nil {
            throw StoreError(
                .locked, "the key in the kernel's keyring doesn't open the vault",
                hint: "\(Recovery.lockVault)")
        }
        return keys
    }

    /// Takes the key away at once, wherever it is linked, and returns whether there was one.
    static func forget(_ vault: VaultID) throws(StoreError) -> Bool {
        guard let key = try find(vault) else { return false }
        guard latchkey_keyctl(Int32(KEYCTL_INVALIDATE), key, 0) == 0 else {
            if isAbsence(errno) { return false }
            throw refused(errno)
        }
        return true
    }

    static func unlocking(of vault: VaultID) throws(StoreError) -> VaultUnlocking {
        guard let key = try find(vault) else { return .locked }
        return .unlocked(time: remainingTime(of: key))
    }

    /// The remaining time of a key in /proc/keys, such as `14m` (proc(5)). A system call for it doesn't exist.
    private static func remainingTime(of key: Int) -> Duration? {
        guard let bytes = try? PrivateFile.read("/proc/keys", limit: 1 << 20) else { return nil }
        let number = Hexadecimal.encode(UInt32(truncatingIfNeeded: key))
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where line.hasPrefix(number) {
            let fields = line.split(separator: " ", maxSplits: 4)
            guard fields.count > 3, let unit = fields[3].last, let count = Int(fields[3].dropLast()) else { return nil }
            let seconds: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 7 * 86_400]
            return seconds[unit].map { .seconds($0 * count) }
        }
        return nil
    }

    private static func find(_ vault: VaultID) throws(StoreError) -> Int? {
        let key = unsafe latchkey_keyctl_search(KEY_SPEC_USER_KEYRING, type, name(vault))
        if key >= 0 { return key }
        if isAbsence(errno) { return nil }
        throw refused(errno)
    }

    private static func isAbsence(_ number: Int32) -> Bool {
        number == ENOKEY || number == EKEYEXPIRED || number == EKEYREVOKED
    }

    // MARK: - Errors

    private static var locked: StoreError {
        StoreError(.locked, "the vault is not unlocked", hint: "\(Recovery.unlockVault)")
    }

    static func refused(_ number: Int32) -> StoreError {
        switch number {
        case EDQUOT:
            StoreError(
                .unavailable, "the kernel's keyring of this user is full", hint: "list its keys: `keyctl show @u`",
                platform: .errno(number))
        default:
            StoreError(
                .unavailable, "the kernel's keyring can't be used here",
                hint: "containers often forbid the kernel's keyring; everything else works without it",
                platform: .errno(number))
        }
    }
}

/// Puts a vault's root key where this user's processes find it, in the place of one from before.
struct KernelKeyringSink: SecretSink {
    static var reason: StaticString { "the person unlocked the vault for a while" }

    let vault: VaultID
    let seconds: UInt32

    /// The key gets into the user's keyring last, when its time and its permissions are set. Until then it is this
    /// thread's alone, and goes with the thread.
    func receive(_ bytes: Span<UInt8>) throws(StoreError) {
        let key = unsafe bytes.withUnsafeBytes {
            unsafe latchkey_add_key(
                KernelKeyring.type, KernelKeyring.name(vault), $0.baseAddress, $0.count, KEY_SPEC_THREAD_KEYRING)
        }
        guard key >= 0 else { throw KernelKeyring.refused(errno) }
        defer { _ = latchkey_keyctl(Int32(KEYCTL_UNLINK), key, Int(KEY_SPEC_THREAD_KEYRING)) }
        guard latchkey_keyctl(Int32(KEYCTL_SET_TIMEOUT), key, Int(seconds)) == 0,
            latchkey_keyctl(Int32(KEYCTL_SETPERM), key, KernelKeyring.permissions) == 0,
            latchkey_keyctl(Int32(KEYCTL_LINK), key, Int(KEY_SPEC_USER_KEYRING)) == 0
        else { throw KernelKeyring.refused(errno) }
    }
}
