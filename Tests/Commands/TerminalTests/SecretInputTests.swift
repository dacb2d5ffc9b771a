internal import Foundation
internal import LatchkeyLog
internal import LatchkeySecrets
@testable internal import LatchkeyCommandLine
internal import Testing
internal import TestServices

@Suite struct SecretInputTests {
    private func open(_ bytes: [UInt8], in directory: TestDirectory) throws -> Int32 {
        unsafe Foundation.open(try directory.write("in", bytes), O_RDONLY | O_CLOEXEC)
    }

    @Test(arguments: [0, 1, 16_383, 16_384, 16_385, 100_000])
    func `a pipe's bytes are read exactly`(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) } + [0x0D, 0x0A]
        let directory = try TestDirectory()
        let descriptor = try open(bytes, in: directory)
        defer { close(descriptor) }
        let secret = try SecretInput.readAll(from: descriptor, as: Password.self, limit: 1 << 20)
        let same = secret.matches(bytes.span)
        #expect(same)
    }

    @Test func `input of exactly the limit is accepted and one byte more is refused`() throws {
        let directory = try TestDirectory()
        for (count, fits) in [(10, true), (11, false)] {
            let descriptor = try open([UInt8](repeating: 7, count: count), in: directory)
            defer { close(descriptor) }
            if fits {
                let secret = try SecretInput.readAll(from: descriptor, as: Password.self, limit: 10)
                #expect(secret.byteCount == 10)
            } else {
                let error = #expect(throws: CommandFailure.self) {
                    _ = try SecretInput.readAll(from: descriptor, as: Password.self, limit: 10)
                }
                #expect(error?.logMessage.text == "standard input has more than 10 bytes [input.too-long]")
            }
        }
    }

    @Test func `a closed or unreadable descriptor is an error with its number`() throws {
        let folder = unsafe Foundation.open("/", O_RDONLY | O_CLOEXEC)
        defer { close(folder) }
        for (descriptor, why) in [(-1, "bad file descriptor"), (folder, "is a directory")] {
            let error = #expect(throws: CommandFailure.self) {
                _ = try SecretInput.readAll(from: descriptor, as: Password.self, limit: 10)
            }
            #expect(error?.logMessage.text == "can't read standard input: \(why) [input.unreadable]")
        }
    }
}
