import Foundation
import Testing
import TestServices

@testable import LatchkeySecrets

/// What happens to the memory of secrets.
@Suite struct GuardedMemoryTests {
    /// Bytes that nobody else in this process has, so that finding them means that they are left over.
    static func unique(_ count: Int) throws -> [UInt8] {
        try Secret<Password>.random(byteCount: count).copiedBytes()
    }

    // MARK: - Wiping

    @Test(arguments: [16, 48, 112, 240, 496, 1008, 4080])
    func `the memory of a secret is wiped at the secret's end`(_ count: Int) throws {
        let bytes = try Self.unique(count)
        let secret = Secret<AccessToken>(copying: bytes.span)
        let address = secret.address()
        #expect(Memory.bytes(at: address, count: count) == bytes)
        _ = consume secret
        // Another test may be in that memory by now, with other bytes.
        #expect(Self.longestRun(Memory.bytes(at: address, count: count), bytes) < 6)
    }

    /// The longest stretch that two memories have in common at the same place.
    static func longestRun(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var longest = 0
        var run = 0
        for (a, b) in zip(left, right) {
            run = a == b ? run + 1 : 0
            longest = max(longest, run)
        }
        return longest
    }

    @Test func `a separate pool returns zeroed memory`() throws {
        let pool = GuardedPool()
        let block = pool.take(byteCount: 100)
        let address = unsafe UInt(bitPattern: block.base)
        unsafe block.bytes.copyBytes(from: try Self.unique(100))
        pool.revoke(block)
        #expect(Memory.bytes(at: address, count: block.capacity) == [UInt8](repeating: 0, count: block.capacity))
        // The next one of the class is the same memory.
        let again = pool.take(byteCount: 100)
        #expect(unsafe UInt(bitPattern: again.base) == address)
        pool.revoke(again)
    }

    /// Each had an allocation of its own, and Linux permits a process 65,530 mappings: a server with many sessions ended.
    @Test(arguments: [100, 1008, 1009, 4080])
    func `twenty thousand secrets need few mappings`(_ byteCount: Int) throws {
        func mappingCount() throws -> Int {
            try String(kernelFile: "/proc/self/maps").utf8.count { $0 == 0x0A }
        }
        let pool = GuardedPool()
        let before = try mappingCount()
        let blocks = (0..<20_000).map { _ in pool.take(byteCount: byteCount) }
        #expect(try mappingCount() - before < 5000)
        let addresses = Set(blocks.map { unsafe UInt(bitPattern: $0.base) })
        #expect(addresses.count == blocks.count)
        for block in blocks { pool.revoke(block) }
    }

    @Test func `an error while filling wipes the bytes filled so far`() throws {
        struct Refused: Error {}
        let bytes = try Self.unique(32)
        var address: UInt = 0
        try? {
            _ = try Secret<AccessToken>(byteCount: 32) { (span) throws(Refused) in
                for index in span.indices { span[index] = bytes[index] }
                address = unsafe span.withUnsafeMutableBufferPointer { UInt(bitPattern: $0.baseAddress) }
                throw Refused()
            }
        }()
        #expect(address != 0)
        #expect(Self.longestRun(Memory.bytes(at: address, count: 32), bytes) < 6)
    }

    @Test func `a builder that grows wipes the memory that it leaves`() throws {
        let bytes = try Self.unique(40)
        var builder = SecretBuilder(capacity: 40)
        try builder.append(bytes.span)
        let address = builder.withExposedBytes { span in
            unsafe span.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        for _ in 0..<300 { try builder.append(1) }
        #expect(Self.longestRun(Memory.bytes(at: address, count: 40), bytes) < 6)
        let secret = builder.finish(as: Password.self)
        #expect(Array(secret.copiedBytes().prefix(40)) == bytes)
    }

    @Test func `a builder's finished or removed bytes are not left in its memory`() throws {
        let bytes = try Self.unique(40)
        var builder = SecretBuilder(capacity: 40)
        try builder.append(bytes.span)
        let address = builder.withExposedBytes { span in
            unsafe span.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        }
        builder.removeLast()
        #expect(Memory.bytes(at: address + 39, count: 1) == [0])
        builder.removeAll()
        #expect(Memory.bytes(at: address, count: 40) == [UInt8](repeating: 0, count: 40))
        try builder.append(bytes.span)
        _ = builder.finish(as: Password.self)
        #expect(Self.longestRun(Memory.bytes(at: address, count: 40), bytes) < 6)
    }

    // MARK: - Guards

    @Test func `a write past the end of a pooled block stops the process when the block comes back`() async {
        await #expect(processExitsWith: .failure) {
            let pool = GuardedPool()
            let block = pool.take(byteCount: 48)
            // The canary is random: one in 256 begins with a given byte.
            let byte = unsafe block.base.load(fromByteOffset: block.capacity, as: UInt8.self)
            unsafe block.base.storeBytes(of: ~byte, toByteOffset: block.capacity, as: UInt8.self)
            pool.revoke(block)
            exit(0)
        }
    }

    @Test func `a write inside a pooled block doesn't stop the process`() async {
        await #expect(processExitsWith: .success) {
            let pool = GuardedPool()
            let block = pool.take(byteCount: 48)
            unsafe block.base.storeBytes(of: 0xFF, toByteOffset: block.capacity - 1, as: UInt8.self)
            pool.revoke(block)
            exit(0)
        }
    }

    @Test func `a read past the end of a large block stops the process at once`() async {
        await #expect(processExitsWith: .signal(SIGSEGV)) {
            let block = GuardedPool().take(byteCount: 5000)
            let byte = unsafe block.base.load(fromByteOffset: 5000, as: UInt8.self)
            exit(Int32(byte) & 0)
        }
    }

    // MARK: - Core dumps and swap

    @Test func `secrets are left out of core dumps`() throws {
        for count in [32, 5000] {
            let secret = Secret<AccessToken>(byteCount: count) { _ in }
            let flags = try Self.flags(ofMappingAt: secret.address())
            #expect(flags.contains("dd"), "\(count) bytes: \(flags)")
        }
        // Ordinary memory isn't: so the flag means something.
        let ordinary = [UInt8](repeating: 0, count: 64)
        let address = unsafe ordinary.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
        #expect(try !Self.flags(ofMappingAt: address).contains("dd"))
    }

    /// The `VmFlags` of the mapping that holds an address (proc(5), smaps).
    static func flags(ofMappingAt address: UInt) throws -> [Substring] {
        let text = try String(kernelFile: "/proc/self/smaps")
        var isInside = false
        for line in text.split(separator: "\n") {
            let first = line.prefix { $0 != " " }
            let ends = first.split(separator: "-").compactMap { UInt($0, radix: 16) }
            if ends.count == 2 && !first.hasSuffix(":") { isInside = (ends[0]..<ends[1]).contains(address) }
            if isInside && line.hasPrefix("VmFlags:") { return line.dropFirst(8).split(separator: " ") }
        }
        throw CocoaError(.fileReadUnknown)
    }

    /// What the system locks for a user without privileges and at most `limit` bytes to lock, in a process of its own.
    static func limitLocking(to limit: UInt) {
        var limits = rlimit(rlim_cur: limit, rlim_max: limit)
        guard unsafe setrlimit(__rlimit_resource_t(8), &limits) == 0 else { exit(10) }  // RLIMIT_MEMLOCK
        // Root may lock what it likes.
        if geteuid() == 0, setgid(65534) != 0 || setuid(65534) != 0 { exit(11) }
    }

    @Test func `a secret reports that its memory couldn't be locked, and works anyway`() async {
        await #expect(processExitsWith: .success) {
            GuardedMemoryTests.limitLocking(to: 0)
            let secret = Secret<AccessToken>(text: "token")
            guard secret.memoryProtection == .unlocked else { exit(1) }
            guard secret.copiedBytes() == Array("token".utf8) else { exit(2) }
            exit(0)
        }
    }

    @Test func `with 64 KiB of lockable memory, small secrets are locked and a megabyte isn't`() async {
        await #expect(processExitsWith: .success) {
            GuardedMemoryTests.limitLocking(to: 64 << 10)
            let small = Secret<AccessToken>(text: "token")
            let large = Secret<AccessToken>(byteCount: 1 << 20) { _ in }
            guard small.memoryProtection == .locked else { exit(1) }
            guard large.memoryProtection == .unlocked else { exit(2) }
            exit(0)
        }
    }
}
