import Testing

@testable import LatchkeyVault

/// What a passphrase costs where nobody says it.
@Suite struct CalibrationTests {
    static let plenty = 64 << 30

    /// A machine on which a pass over 256 MiB takes this long, and one over less memory as much less.
    private func machine(_ milliseconds: Int) -> (Int) -> Duration? {
        { .milliseconds(milliseconds) * (Double($0) / Double(256 << 20)) }
    }

    @Test(arguments: [
        (time: 10, memory: 256, passes: 16), (100, 256, 7), (250, 256, 3), (499, 256, 3), (501, 128, 3), (999, 128, 3),
        (1001, 64, 3), (60_000, 64, 3),
    ])
    func `a fast machine makes more passes, and a slow one uses less memory`(
        time: Int, memory: Int, passes: Int
    ) throws {
        let cost = PassphraseCost.calibrated(allowance: Self.plenty, timeOfPass: machine(time))
        #expect(try cost == PassphraseCost(memoryByteCount: memory << 20, passes: passes))
    }

    @Test(arguments: [(allowance: 1024, memory: 256), (1023, 128), (512, 128), (511, 64), (64, 64), (1, 64)])
    func `the memory is at most a quarter, and at least 64 MiB`(allowance: Int, memory: Int) {
        let cost = PassphraseCost.calibrated(allowance: allowance << 20, timeOfPass: machine(250))
        #expect(cost.memoryByteCount == memory << 20)
        #expect(cost.passes >= 3)
    }

    @Test func `the calibration doesn't request more memory than the machine has`() {
        let cost = PassphraseCost.calibrated(allowance: Self.plenty) { $0 > 128 << 20 ? nil : .milliseconds(250) }
        #expect(cost.memoryByteCount == 128 << 20)
        #expect(PassphraseCost.calibrated(allowance: Self.plenty) { _ in nil } == .least)
    }

    @Test func `a clock that doesn't move causes no endless work`() {
        let cost = PassphraseCost.calibrated(allowance: Self.plenty) { _ in .zero }
        #expect(cost.passes == PassphraseCost.maximumPasses)
    }

    @Test func `a slot without a cost gets one that fits this machine`() async throws {
        let folder = try VaultFolder()
        let store = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("correct horse"))
        let cost = try #require(try await store.slots().first?.cost)
        #expect((64 << 20...256 << 20).contains(cost.memoryByteCount))
        #expect((3...PassphraseCost.maximumPasses).contains(cost.passes))
        _ = try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("correct horse"))
    }

    @Test func `limits are searched in a group and in all groups above`() {
        let two = MemoryAllowance.limitFiles(ownGroups: "0::/system.slice/app.service\n")
        #expect(
            two.dropFirst(2) == [
                "/sys/fs/cgroup/system.slice/memory.max", "/sys/fs/cgroup/system.slice/app.service/memory.max",
            ])
        let one = MemoryAllowance.limitFiles(ownGroups: "5:cpu,cpuacct:/a\n4:memory:/jobs/1\n0::/../..\nnonsense\n")
        #expect(
            one.dropFirst(2) == [
                "/sys/fs/cgroup/memory/jobs/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/jobs/1/memory.limit_in_bytes",
            ])
        #expect(one.starts(with: ["/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"]))
    }

    @Test func `a limit is a number of bytes, and other text is no limit`() {
        #expect(MemoryAllowance.limit("268435456\n") == 268_435_456)
        for text in ["max\n", "", "\n", "99999999999999999999\n"] {
            #expect(MemoryAllowance.limit(text) == nil)
        }
        #expect(MemoryAllowance.byteCount() > 0)
    }
}
