package import LatchkeySecrets

/// A response. It says `Cache-Control: no-store` and `Connection: close` whatever its fields say.
package struct LoopbackResponse: ~Copyable, Sendable {
    package var status: Int
    /// Fields that hold no secret.
    package var fields: [LoopbackField]
    /// The `Location` of a redirect, which may hold a code or a state.
    package var location: Secret<MessageBody>?
    package var body: Secret<MessageBody>?
    /// How the body goes out; anything but `whole` is a fault that a test asked for.
    package var delivery: Delivery = .whole
    /// Called once the response has left, or can't any more: a server that is to stop may wait for its last page.
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

    /// A response with text that is no secret.
    package init(status: Int, contentType: String, publicText: String, fields: [LoopbackField] = []) {
        let bytes = Array(publicText.utf8)
        self.init(
            status: status, fields: [LoopbackField("Content-Type", contentType)] + fields,
            body: Secret(copying: bytes.span))
    }

    /// A redirect to text that is no secret.
    package static func redirect(status: Int = 302, publicLocation: String) -> LoopbackResponse {
        let bytes = Array(publicLocation.utf8)
        return LoopbackResponse(status: status, location: Secret(copying: bytes.span))
    }
}
