internal import CLatchkeySodium

/// What finished calls have left on a thread's stack below the caller's frame.
package enum DeadStack {
    /// Overwrites 4 KiB of it. For who has moved bytes of a secret through registers and frames of its own.
    package static func wipe() { sodium_stackzero(4096) }
}
