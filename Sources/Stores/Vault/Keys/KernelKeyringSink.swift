internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets

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
