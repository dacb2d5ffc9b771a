import LatchkeyProcess
import Testing

/// What a program of others is told about its protection.
@Suite struct HardeningReportTests {
    /// glibc's `M_PERTURB` passes over what goes to a thread's cache, which the report used to call overwritten.
    @Test func `an adopter's program warns that it overwrites only large pieces of freed memory`() async {
        await #expect(processExitsWith: .success) {
            let report = ProcessHardening.apply()
            #expect(report.applied.contains(.largeFreedMemoryOverwritten))
            #expect(!report.applied.contains(.freedMemoryOverwritten) && !report.applied.contains(.functionsBound))
            #expect("\(report.logMessage)".contains("freed memory above 1,032 bytes overwritten"))
        }
    }
}
