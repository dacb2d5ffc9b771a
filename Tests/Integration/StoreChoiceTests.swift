import Foundation
import TestServices
import Testing

/// Which store the program uses, for every combination of what names one and what is there.
struct StoreChoiceTests {
    private static let names: [String?] = [nil, "vault", "secret-service"]

    /// What the environment, the configuration and the memory of an earlier run say.
    struct Naming: Sendable, CustomTestStringConvertible {
        let environment: String?
        let configuration: String?
        let remembered: String?

        var testDescription: String {
            "env \(environment ?? "-"), config \(configuration ?? "-"), memory \(remembered ?? "-")"
        }

        static let all = names.flatMap { one in
            names.flatMap { two in
                names.map { Naming(environment: one, configuration: two, remembered: $0) }
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `the store is the one that was named, else used before, else the first that works`(
        hasKeyring: Bool, hasVault: Bool
    ) async throws {
        let session = try await PrivateSession(hasKeyring ? .unlocked : .none)
        var base = session.environment
        base["LATCHKEY_KEY_FILE"] = session.directory / "key"
        if hasVault {
            try await BuiltProducts.latchkey().run(
                ["vault", "init", "--key-file", session.directory / "key"], environment: base
            ).successful("init")
        }
        let works = ["secret-service": hasKeyring, "vault": hasVault]
        let memory = session.directory / "state/latchkey/store"
        try session.directory.makeFolder("state/latchkey")
        try session.directory.makeFolder("config/latchkey")
        for naming in Naming.all {
            var environment = base
            environment["LATCHKEY_STORE"] = naming.environment
            try session.directory.write(
                "config/latchkey/config", Array((naming.configuration.map { "store = \($0)\n" } ?? "").utf8))
            unsafe unlink(memory)
            if let remembered = naming.remembered {
                try session.directory.write("state/latchkey/store", Array("\(remembered)\n".utf8))
            }
            let run = try await BuiltProducts.latchkey().run(
                ["list", "--log-level", "info"], environment: environment)
            let place: Comment = "\(naming.testDescription), keyring \(hasKeyring), vault \(hasVault): \(run.errorText)"
            let named = naming.environment ?? naming.configuration ?? naming.remembered
            let first = ["secret-service", "vault"].first { works[$0] == true }
            guard let expected = named ?? first else {
                #expect(run.status == 69, place)
                #expect(run.errorText.contains("selection.no-store"), place)
                continue
            }
            let source =
                naming.environment != nil
                ? "named in the environment"
                : naming.configuration != nil
                    ? "named in the configuration"
                    : naming.remembered != nil ? "used before" : "the first one that works"
            #expect(run.errorText.contains("store: \(expected) (\(source))"), place)
            #expect(run.status == (works[expected] == true ? 0 : 69), place)
            // A store that was found says why the one before it was not; it alone is remembered.
            if named == nil, expected == "vault" { #expect(run.errorText.contains("refused: secret-service"), place) }
            let kept = try? String(contentsOfFile: memory, encoding: .utf8)
            #expect(kept == (naming.remembered ?? (named == nil ? expected : nil)).map { $0 + "\n" }, place)
            // One that was used before and is gone names the doctor.
            if source == "used before", run.status != 0 {
                #expect(run.errorText.contains("latchkey doctor"), place)
            }
        }
    }
}
