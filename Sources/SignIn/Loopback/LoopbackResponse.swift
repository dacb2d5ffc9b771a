package import LatchkeySecrets

/// A response. The server adds `Cache-Control: no-store` and `Connection: close` to every response.
package struct LoopbackResponse: ~Copyable, Sendable {
    package var status: Int
    /// Fields that hold no secret.
    package var fields: [LoopbackField]
    /// The `Location` of a redirect, which may hold a code or a state.
    package var location: Secret<MessageBody>?
    package var body: Secret<MessageBody>?
    /// How the body goes out; anything but `whole` is a fault that a test asked for.
    package var delivery: Delivery = .whole
    /// Called when the response was sent or can't be sent, so that a server can wait for its last page before it stops.
    package var whenEnded: (@Sendable () -> Void)?

    package enum Delivery: Sendable, Hashable {
        case whole
        /// Announces more bytes than the body has, and closes the connection behind its end.
        case truncated(announcedByteCount: Int)
        /// This many spaces instead of a body, without saying how many.
        case filler(byteCount: Int)
        /// No response at all: the connection is closed.
        case dropped
    }

    package init(
        status: Int, fields: [LoopbackField] = [], location: consuming Secret<MessageBody>? = nil,
        body: consuming Secret<MessageBody>? = nil
    ) {
        self.status = status
        self.fields = fields
        self.location = location
        self.body = body
    }

    /// A response with text that isn't secret.
    package init(status: Int, contentType: String, publicText: String, fields: [LoopbackField] = []) {
        let bytes = Array(publicText.utf8)
        self.init(
            status: status, fields: [LoopbackField("Content-Type", contentType)] + fields,
            body: Secret(copying: bytes.span))
    }

    /// A redirect to text that isn't secret.
    package static func redirect(status: Int = 302, publicLocation: String) -> LoopbackResponse {
        let bytes = Array(publicLocation.utf8)
        return LoopbackResponse(status: status, location: Secret(copying: bytes.span))
    }
}
