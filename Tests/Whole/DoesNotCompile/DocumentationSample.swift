/// Code in a declaration's comment: a paragraph that is indented by four spaces, or a block between ``` lines.
struct DocumentationSample: Sendable, Hashable {
    /// The declaration that it belongs to, such as `SignInService`.
    let name: String
    let code: String

    static func samples(in lines: [String], of name: String) -> [DocumentationSample] {
        var samples: [DocumentationSample] = []
        var code: [String] = []
        var (isFenced, isAfterBlank) = (false, true)
        func end() {
            if !code.isEmpty { samples.append(DocumentationSample(name: name, code: code.joined(separator: "\n"))) }
            code = []
        }
        for line in lines {
            if line.hasPrefix("```") {
                isFenced.toggle()
                end()
            } else if isFenced {
                code.append(line)
            } else if line.hasPrefix("    "), isAfterBlank || !code.isEmpty {
                code.append(String(line.dropFirst(4)))
            } else {
                end()
            }
            isAfterBlank = line.allSatisfy { $0 == " " }
        }
        end()
        return samples
    }
}
