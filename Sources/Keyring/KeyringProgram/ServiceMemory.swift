internal import CLatchkeyLinux

/// The memory of a program that stays for days.
package enum ServiceMemory {
    /// To be called while there is one thread. One works at a time, and each heap would keep what it was once given.
    package static func useOneHeap() { latchkey_use_one_heap() }
}
