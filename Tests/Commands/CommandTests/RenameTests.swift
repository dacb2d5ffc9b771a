internal import Foundation
internal import Testing
internal import TestServices

@Suite struct RenameTests {
    /// A value was there twice, or a sound vault called corrupted, in one race of four.
    @Test func `a secret that several processes rename and save at once exists once, undamaged`()
        async throws
    {
        let folder = try TestDirectory()
        let run = try await Program("/usr/bin/python3").run(
            [
                TestData.folder().appendingPathComponent("rename_race.py").path, try BuiltProducts.latchkey().path,
                folder.path, "24",
            ])
        #expect(run.status == 0 && run.outputText == "24 0\n", "\(run.errorText)")
    }
}
