internal import LatchkeyJSON
internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeySecrets

/// An endpoint's response, read as JSON where it is.
struct EndpointResponse: ~Copyable {
    let status: Int
    let isEmpty: Bool
    /// `nil` unless the body is a JSON object.
    let document: JSONDocument?
    /// The response's `error`, whatever its status: GitHub sends it with 200.
    let error: ServerErrorCode?
    /// What the server's clock said, if it said so.
    let date: UnixTime?
    /// How the Basic credentials of the request were written, if there were any.
    var basicForm: ClientAuthentication.BasicForm?

    init(_ response: borrowing GuardedResponse) {
        status = response.status
        isEmpty = response.body.isEmpty
        date = response.field("Date").flatMap(HTTPDate.parse)
        guard let document = Self.read(response.body) else {
            document = nil
            error = nil
            return
        }
        error = Self.error(in: document)
        self.document = consume document
    }

    private static func read(_ body: borrowing Secret<MessageBody>) -> JSONDocument? {
        guard !body.isEmpty, let document = try? JSONDocument(body.duplicate()), document.root.kind == .object else {
            return nil
        }
        return consume document
    }

    private static func error(in document: borrowing JSONDocument) -> ServerErrorCode? {
        guard let member = document.member("error") else { return nil }
        guard let text = try? document.publicText(member, limit: 128) else { return .other }
        return ServerErrorCode(text: text)
    }

    var isSuccess: Bool { (200...299).contains(status) && error == nil }

    /// Whether it may be the client that the server didn't know. glewlwyd says `unauthorized_client`, an empty 403, or
    /// at a refresh an empty 400.
    var refusesClient: Bool {
        switch error {
        case .invalidClient, .incorrectClientCredentials: true
        case .unauthorizedClient: true
        case .none: status == 401 || status == 403 || (status == 400 && isEmpty)
        default: false
        }
    }
}
