import Foundation

/// One Swift file and the errors that the compiler must give for it, written behind the lines that cause them:
/// `print(token)  // expected-error {{does not conform to expected type 'Copyable'}}`.
///
/// A file without expectations is a control: it must compile. A file whose declarations are private is compiled
/// together with others.
struct CompileCase: Sendable {
    let path: String
    /// Pieces of the errors' text by line, counted from 1.
    let expected: [Int: [String]]

    var isControl: Bool { expected.isEmpty }
    var name: String { path.split(separator: "/").suffix(2).joined(separator: "/") }

    init(path: String) throws {
        self.path = path
        var expected: [Int: [String]] = [:]
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        for (number, line) in lines.enumerated() {
            for piece in line.components(separatedBy: "expected-error {{").dropFirst() {
                guard let end = piece.range(of: "}}") else { throw UnclosedExpectation(path: path, line: number + 1) }
                expected[number + 1, default: []].append(String(piece[..<end.lowerBound]))
            }
        }
        self.expected = expected
    }

    struct UnclosedExpectation: Error {
        let path: String
        let line: Int
    }

    // MARK: - Folders

    static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    /// The folder of cases: one folder in it for each way out.
    static let folder = package.appendingPathComponent("Tests/Whole/DoesNotCompile/Cases").path

    /// The ways out, such as `Print`.
    static func ways() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasPrefix(".") }.sorted()
    }

    static func all(of way: String, in folder: String = folder) throws -> [CompileCase] {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(way)")
        return try names.filter { $0.hasSuffix(".swift") }.sorted().map {
            try CompileCase(path: "\(folder)/\(way)/\($0)")
        }
    }

    // MARK: - Judging

    /// What differs between the errors expected and those given; empty when all is as it should be.
    func complaints(about outcome: Compiler.Outcome) -> [String] {
        var complaints: [String] = []
        var given = outcome.errors
        for (line, texts) in expected.sorted(by: { $0.key < $1.key }) {
            for text in texts {
                if let index = given.firstIndex(where: { $0.line == line && $0.text.contains(text) }) {
                    given.remove(at: index)
                } else {
                    complaints.append("\(name):\(line): the compiler did not say: \(text)")
                }
            }
        }
        complaints += given.map { "\(name):\($0.line): unexpected error: \($0.text)" }
        if isControl && outcome.status != 0 && given.isEmpty {
            complaints.append("\(name): the control does not compile: \(outcome.output)")
        }
        if !isControl && outcome.status == 0 { complaints.append("\(name): it compiles") }
        return complaints
    }
}
