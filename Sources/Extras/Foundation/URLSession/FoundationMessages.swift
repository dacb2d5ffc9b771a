internal import Foundation
internal import FoundationNetworking
internal import LatchkeyHTTP
internal import LatchkeyLog

extension GuardedRequest {
    /// Converts a request of Foundation.
    ///
    /// Throws `.unsupportedRequest` for an address other than an http or https URL without a fragment, for another
    /// method, for a field that callers can't set, such as `Authorization` or `Cookie`, for a stream as body, and for any
    /// body with GET or HEAD, which Foundation refuses.
    init(_ request: URLRequest) throws(OAuthAuthenticator.Failure) {
        guard let address = request.url?.absoluteString, let url = try? HTTPURL(address) else {
            throw OAuthAuthenticator.Failure(.unsupportedRequest(.address))
        }
        guard let method = GuardedRequest.Method(rawValue: request.httpMethod ?? "GET") else {
            throw OAuthAuthenticator.Failure(.unsupportedRequest(.method))
        }
        guard request.httpBodyStream == nil, method.takesBody || request.httpBody?.isEmpty ?? true else {
            throw OAuthAuthenticator.Failure(.unsupportedRequest(.body))
        }
        var fields: [HeaderField] = []
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            guard let field = HeaderField(name, value), !HeaderField.transportNames.contains(name.lowercased()) else {
                throw OAuthAuthenticator.Failure(.unsupportedRequest(.field))
            }
            fields.append(field)
        }
        self.init(method, url, fields: fields, body: request.httpBody.map { Secret(copying: $0.span) })
    }

    /// The request as one of Foundation's, the token inside in ordinary memory.
    borrowing func foundationRequest(timeout: Duration) throws(TransportError) -> URLRequest {
        guard isWellFormed, method.takesBody || body == nil, let address = URL(string: url.text),
            address.absoluteString == url.text
        else {
            throw TransportError(.malformedRequest, origin: url.loggableOrigin)
        }
        let seconds = Double(timeout.components.seconds) + Double(timeout.components.attoseconds) / 1e18
        var request = URLRequest(url: address, cachePolicy: .reloadIgnoringLocalCacheData, timeoutInterval: seconds)
        request.httpMethod = method.rawValue
        request.httpShouldHandleCookies = false
        for field in fields { request.addValue(field.value, forHTTPHeaderField: field.name) }
        request.set(authorization, as: "Authorization")
        request.set(proof, as: "DPoP")
        switch body {
        case .some(let body): request.httpBody = body.foundationData
        case .none: break
        }
        return request
    }
}

extension URLRequest {
    /// Sets a field to a secret, which is ordinary text from here on.
    mutating func set(_ value: borrowing Secret<MessageBody>?, as field: String) {
        switch value {
        case .some(let value): setValue(value.foundationText, forHTTPHeaderField: field)
        case .none: break
        }
    }
}

extension GuardedRequest.Method {
    /// Whether Foundation sends a body with it.
    var takesBody: Bool { self != .get && self != .head }
}

extension GuardedResponse {
    /// Converts a response of Foundation. Returns `nil` for one of another protocol, or with too many fields.
    init?(_ response: URLResponse, body: consuming Secret<MessageBody>) {
        guard let response = response as? HTTPURLResponse, let fields = response.boundedFields else { return nil }
        self.init(status: response.statusCode, fields: fields, body: body)
    }

    /// The response as one of Foundation's.
    borrowing func foundationResponse(of address: URL) -> URLResponse {
        var lines: [String: String] = [:]
        for field in fields {
            // Foundation's form of a repeated field (RFC 9110 section 5.3).
            lines[field.name] = lines[field.name].map { $0 + ", " + field.value } ?? field.value
        }
        let response = HTTPURLResponse(
            url: address, statusCode: status, httpVersion: "HTTP/1.1", headerFields: lines)
        guard let response else { preconditionFailure("a status and fields make a response") }
        return response
    }
}

extension HTTPURLResponse {
    static let maximumFieldCount = 128
    static let maximumFieldByteCount = 65_536

    /// The fields, or `nil` when they are too many or too long. Those that aren't ASCII are left out.
    var boundedFields: [HeaderField]? {
        guard allHeaderFields.count <= Self.maximumFieldCount else { return nil }
        var fields: [HeaderField] = []
        var byteCount = 0
        for case let (name, value) as (String, String) in allHeaderFields {
            byteCount += name.utf8.count + value.utf8.count
            if let field = HeaderField(name, value) { fields.append(field) }
        }
        return byteCount <= Self.maximumFieldByteCount ? fields : nil
    }
}

extension Secret where Purpose: SecretPurpose {
    var foundationText: String {
        var sink = FoundationMessageSink()
        pour(into: &sink)
        return sink.text
    }

    var foundationData: Data {
        var sink = FoundationMessageSink()
        pour(into: &sink)
        return sink.data
    }
}

extension HTTPURL {
    var loggableOrigin: LoggableText {
        LoggableText(reviewed: "scheme, host and port", unredacted: origin)
    }
}

// MARK: - Urlerror

extension TransportError {
    /// Converts an error of Foundation, without its text.
    init(_ error: any Error, origin: LoggableText) {
        switch error {
        case let error as TransportError: self = error
        case let error as URLError:
            self.init(Code(error.code), origin: origin, number: error.errorCode)
        case is CancellationError: self.init(.cancelled, origin: origin)
        default: self.init(.other, origin: origin)
        }
    }
}

extension TransportError.Code {
    fileprivate init(_ code: URLError.Code) {
        self =
            switch code {
            case .cannotFindHost, .dnsLookupFailed: .cannotResolveHost
            case .cannotConnectToHost, .notConnectedToInternet: .cannotConnect
            // On Linux the second one is a response that never began.
            case .networkConnectionLost, .badServerResponse: .connectionLost
            case .timedOut: .timedOut
            case .cancelled: .cancelled
            case .secureConnectionFailed: .handshakeFailed
            case .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                .serverCertificateNotYetValid:
                .certificateRefused
            case .dataLengthExceedsMaximum: .bodyTooLarge
            // The last one is also a response that isn't HTTP.
            case .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData, .unsupportedURL:
                .malformedResponse
            case .badURL: .malformedRequest
            default: .other
            }
    }
}

/// The sink by which Foundation gets a request's fields and body, and the caller gets a response's body.
///
/// Foundation doesn't support guarded memory: from here on the bytes are ordinary data, also in Foundation's copies.
struct FoundationMessageSink: SecretSink {
    static var reason: StaticString { "Foundation takes and gives messages as ordinary text and data" }

    private(set) var data = Data()

    mutating func receive(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe data.append(contentsOf: $0) }
    }

    /// The text of a field's value, which is ASCII.
    var text: String { String(decoding: data, as: UTF8.self) }
}
