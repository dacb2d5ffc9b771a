import Foundation
import Testing
import TestServices

/// Our programs bring free(3) and realloc(3) of their own, and take the rest from whichever allocator is there.
///
/// The served keyring ended before its first line with tcmalloc, and every command with glibc's checker, which git's own tests
/// switch on.
@Suite struct AllocatorTests {
    enum Allocator: String, CaseIterable, CustomTestStringConvertible {
        case jemalloc = "libjemalloc.so.2"
        case mimalloc = "libmimalloc.so.2.0"
        case tcmalloc = "libtcmalloc.so.4"
        case minimalTcmalloc = "libtcmalloc_minimal.so.4"
        case checker = "libc_malloc_debug.so.0"
        /// It ends the process when it gets back what isn't its own.
        case strict = "other_allocator.so"
        /// Not an allocator, but the memory pages of some AArch64 machines, of which 64 KiB can be locked.
        case pagesOf16KiB = "large_pages.so (16 KiB)"
        case pagesOf64KiB = "large_pages.so (64 KiB)"

        var testDescription: String { rawValue }

        func environment() async throws -> [String: String] {
            switch self {
            case .checker: return ["LD_PRELOAD": rawValue, "GLIBC_TUNABLES": "glibc.malloc.check=3"]
            case .strict: return ["LD_PRELOAD": try await SystemCallTests.library("other_allocator")]
            case .pagesOf16KiB: return try await Self.pages(16 << 10)
            case .pagesOf64KiB: return try await Self.pages(64 << 10)
            default: return ["LD_PRELOAD": rawValue]
            }
        }

        static func pages(_ byteCount: Int) async throws -> [String: String] {
            ["LD_PRELOAD": try await SystemCallTests.library("large_pages", options: ["-DPAGE=\(byteCount)"])]
        }
    }

    /// The guards around secrets, and what locks and wipes them.
    @Test(arguments: [16 << 10, 64 << 10])
    func `secrets are guarded with larger memory pages`(_ byteCount: Int) async throws {
        let directory = try TestDirectory()
        let run = try await BuiltProducts.program("latchkeyPackageTests.xctest").run(
            ["--testing-library", "swift-testing", "--filter", "^SecretsTests\\."],
            environment: try directory.environment().merging(Allocator.pages(byteCount)) { $1 })
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
    }

    /// It was taken for a preloaded allocator without free(3), so that no benchmark started.
    @Test func `a program that counts its own allocations starts`() async throws {
        let run = try await BuiltProducts.program("latchkey-benchmarks").run(["no-group"])
        #expect(run.status == 0 && run.errorText.isEmpty, "\(run.errorText)")
    }

    @Test(arguments: Allocator.allCases)
    func `each program works with any allocator and page size, and overwrites what it frees`(
        _ allocator: Allocator
    ) async throws {
        let session = try await CommandLineSession(.vault)
        let environment = session.environment.merging(try await allocator.environment()) { $1 }
        let version = try await BuiltProducts.latchkey().run(["--version"], environment: environment)
        #expect(version.status == 0 && version.outputText.hasPrefix("latchkey "), "\(version.errorText)")
        let secret = MemoryResidueTests.random()
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["set", "residue", "ada"], environment: environment, input: secret).successful("set")
        let get = try await latchkey.run(["get", "residue", "ada"], environment: environment).successful("get")
        #expect(get.output == secret)
        let git = try await latchkey.run(
            ["helper", "git", "get"], environment: environment,
            input: Array("protocol=https\nhost=none.example\n\n".utf8))
        #expect(git.status == 0 && git.errorText.isEmpty, "\(git.errorText)")
        let served = try await latchkey.run(
            ["keyring", "run", "--", "secret-tool", "lookup", "service", "residue"], environment: environment)
        #expect(served.output == secret, "\(served.errorText)")
        let providers = try await latchkey.run(["provider", "list"], environment: environment)
        #expect(providers.status == 0, "\(providers.errorText)")

        let doctor = try await latchkey.run(["doctor", "--verbose", "--store", "vault"], environment: environment)
        #expect(!doctor.outputText.contains("refused: freed memory overwritten"), "\(doctor.outputText)")
        let brake = try await MemoryResidueTests.Brake()
        let file = try session.directory.write("planted", secret)
        try await brake.run(
            ["get", "residue", "ada"], environment: environment, planting: (file, .freed)
        ) { pid in
            let maps = try String(kernelFile: "/proc/\(pid)/maps")
            #expect(maps.contains(allocator.rawValue.prefix(while: { $0 != "." })))
            try MemoryResidueTests.expectNoPiece(of: secret, in: pid)
        }
    }

    /// Swift's own runtime ends in the middle of something then.
    @Test func `an allocator without sizes is refused in one sentence`() async throws {
        let directory = try TestDirectory()
        let library = try await SystemCallTests.library("other_allocator", options: ["-DWITHOUT_SIZES"])
        let run = try await BuiltProducts.latchkey().run(
            ["list"], environment: try directory.environment().merging(["LD_PRELOAD": library]) { $1 })
        #expect(run.status == 70 && run.errorText.contains("has no free, realloc or malloc_usable_size"))
    }
}
