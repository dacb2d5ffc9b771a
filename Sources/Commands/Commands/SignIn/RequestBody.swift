internal import LatchkeyJSON
internal import Glibc
internal import LatchkeyHTTP

/// The body of `latchkey request`: a file's bytes, or JSON from the command line.
final class RequestBody: Sendable {
    private let content: Handover<Secret<MessageBody>>

    /// Returns `nil` for a request without a body.
    ///
    /// - Parameter fields: gets the media type, unless it is among them.
    init?(_ arguments: ParsedArguments, fields: inout [HeaderField]) throws {
        let (data, json) = (
            arguments.value(RequestCommand.data), arguments.value(RequestCommand.jsonBody)
        )
        var content: Secret<MessageBody>
        switch (data, json) {
        case (nil, nil): return nil
        case (let data?, nil): content = try Self.file(data)
        case (nil, let json?): content = try Self.json(json)
        case (_?, _?):
            throw CommandFailure(
                .usage, "request.data", "--data and --json-body can't be combined", hint: "remove one of the options")
        }
        if !fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            let type = arguments.value(RequestCommand.contentType) ?? "application/json"
            guard let field = HeaderField("Content-Type", type) else {
                throw CommandFailure(
                    .usage, "request.content-type", "--content-type isn't a media type",
                    hint: "write --content-type text/plain")
            }
            fields.append(field)
        }
        self.content = Handover(content)
    }

    /// The body, once.
    func takeContent() -> Secret<MessageBody>? { content.take() }

    /// Refuses invalid input before the token is sent to the server.
    private static func json(_ text: String) throws -> Secret<MessageBody> {
        let body = Secret<MessageBody>(copying: Array(text.utf8).span)
        if failure(JSONError.self, of: try JSONDocument(body.duplicate(as: MessageBody.self))) != nil {
            throw CommandFailure(
                .usage, "request.data", "--json-body takes JSON of at most 256 KiB",
                hint: "quote it for the shell: --json-body '{\"name\": \"value\"}'; or use --data @FILE")
        }
        return body
    }

    /// Reads the file behind `@`. Data on the command line itself could be a secret that everybody sees in `ps`.
    private static func file(_ data: String) throws -> Secret<MessageBody> {
        guard data.hasPrefix("@"), data.utf8.count > 1 else {
            throw CommandFailure(
                .usage, "request.data", "--data takes @FILE, or @- for standard input",
                hint:
                    "write the data to a file, because every user of this machine can see arguments; JSON without a secret can follow --json-body"
            )
        }
        let limit = RequestCommand.maximumByteCount
        if data == "@-" { return try SecretInput.readAll(as: MessageBody.self, limit: limit) }
        let path = String(data.dropFirst())
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            let shown = LoggableText(reviewed: "the path after --data @", unredacted: path)
            throw CommandFailure(
                .badData, "request.data", "can't read \"\(shown)\": \(SystemErrorNumber(errno))",
                hint: "check the path after --data @")
        }
        defer { close(descriptor) }
        return try SecretInput.readAll(from: descriptor, "the file after --data @", as: MessageBody.self, limit: limit)
    }
}
