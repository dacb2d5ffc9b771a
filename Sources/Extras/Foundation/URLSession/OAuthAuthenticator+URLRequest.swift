public import Foundation
public import FoundationNetworking
internal import LatchkeyHTTP
internal import LatchkeySystem

extension OAuthAuthenticator {
    // MARK: - Sending

    /// Sends a request of Foundation's with the login's token; otherwise as `response(for: GuardedRequest)`.
    ///
    /// Uses the configuration's response provider, otherwise a separate URLSession. The request's `timeoutInterval` is
    /// the time limit, at most a day. The response is in ordinary memory.
    ///
    /// - Parameters:
    ///   - request: the request. A body stream or an `Authorization` field throws `.unsupportedRequest`.
    ///   - maximumByteCount: the limit of the response's body in bytes (default: 16 MiB). A larger body throws
    ///     `.signIn` with a `.networkError` of `.bodyTooLarge`.
    public func response(
        for request: URLRequest, maximumByteCount: Int = 16 << 20
    ) async throws(Failure) -> (Data, URLResponse) {
        try await dataAndResponse(
            to: try GuardedRequest(request), request, maximumByteCount,
            over: configuration.responses ?? URLSessionTransport.standard)
    }

    /// Sends a file as the request's body, piece by piece; otherwise as `response(for:)`. The file is read again if the
    /// request is sent once more.
    ///
    /// Throws `.fileFailed` for a file that can't be read, and `.unsupportedRequest` for a request with a body or a
    /// method without one, and for a response provider that isn't a ``URLSessionTransport``.
    public func upload(
        for request: URLRequest, fromFile file: URL, maximumByteCount: Int = 16 << 20
    ) async throws(Failure) -> (Data, URLResponse) {
        let converted = try GuardedRequest(request)
        guard converted.body == nil else { throw Failure(.unsupportedRequest(.body)) }
        guard file.isFileURL, FileManager.default.isReadableFile(atPath: file.path) else {
            throw Failure(.fileFailed(number: ENOENT))
        }
        guard (try? file.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory != true else {
            throw Failure(.fileFailed(number: EISDIR))
        }
        guard converted.method.takesBody else { throw Failure(.unsupportedRequest(.body)) }
        let client = FileTransfer(client: try urlSession(), source: file)
        return try await dataAndResponse(to: converted, request, maximumByteCount, over: client)
    }

    /// Writes the body of a 2xx response to a file, piece by piece; otherwise as `response(for:)`.
    ///
    /// The file has mode 0600, and replaces a file of that name when it is complete. For another response the call
    /// returns the body, of at most 1 MiB, and writes no file.
    ///
    /// Throws `.fileFailed` for a file that can't be written, and `.unsupportedRequest(.file)` for a response provider
    /// that isn't a ``URLSessionTransport``.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - file: the file for the body.
    ///   - maximumByteCount: the limit of the file in bytes; a larger response is an error.
    public func download(
        for request: URLRequest, to file: URL, maximumByteCount: Int
    ) async throws(Failure) -> (Data, URLResponse) {
        let converted = try GuardedRequest(request)
        guard file.isFileURL else { throw Failure(.fileFailed(number: EINVAL)) }
        let target = try mapError(
            { (error: SystemErrorNumber) in Failure(.fileFailed(number: error.number)) },
            of: DownloadedFile(path: file.path, maximumByteCount: maximumByteCount))
        defer { target.discard() }
        let client = FileTransfer(client: try urlSession(), target: target)
        let result = try await mapError(
            { (error: Failure) in
                target.failureNumber == 0 ? error : Failure(.fileFailed(number: target.failureNumber))
            }, awaiting: await dataAndResponse(to: converted, request, 1 << 20, over: client))
        guard let response = result.1 as? HTTPURLResponse, (200...299).contains(response.statusCode) else {
            return result
        }
        try mapError(
            { (error: SystemErrorNumber) in Failure(.fileFailed(number: error.number)) }, of: target.finish())
        return result
    }

    private func urlSession() throws(Failure) -> URLSessionTransport {
        guard let responses = configuration.responses else { return .standard }
        guard let client = responses as? URLSessionTransport else {
            throw Failure(.unsupportedRequest(.file))
        }
        return client
    }

    /// In seconds.
    private static let longestTimeout = 86_400.0

    private func dataAndResponse(
        to request: borrowing GuardedRequest, _ original: URLRequest, _ maximumByteCount: Int,
        over http: any HTTPTransport
    ) async throws(Failure) -> (Data, URLResponse) {
        guard let address = original.url else { throw Failure(.unsupportedRequest(.address)) }
        // Infinity, for example, is how programs ask for an unlimited time.
        let seconds = original.timeoutInterval.isFinite ? original.timeoutInterval : Self.longestTimeout
        let limits = TransferLimits(
            maximumBodyByteCount: maximumByteCount, timeout: .seconds(min(max(0, seconds), Self.longestTimeout)))
        let response = try await response(for: request, limits: limits, over: http)
        return (response.body.foundationData, response.foundationResponse(of: address))
    }

    // MARK: - For a client of the caller's own

    /// Returns the request with the login's token, and a proof of its key if it is bound to one, for the caller's own
    /// HTTP client. Both secrets are ordinary text in the fields `Authorization` and `DPoP`; see ``authenticated(_:)``.
    ///
    /// Don't log or store the request, and don't follow a redirect to another server. Pass the response to
    /// ``learn(from:)``.
    ///
    /// Throws as ``authenticated(_:)`` does, and `.unsupportedRequest`.
    public func unprotectedAuthenticatedRequest(
        for request: URLRequest
    ) async throws(Failure) -> URLRequest {
        let signed = try await authenticated(try GuardedRequest(request))
        var result = request
        result.set(signed.authorization, as: "Authorization")
        result.set(signed.proof, as: "DPoP")
        return result
    }

    /// Reads the nonce and the time for the next proof from a response that another client received.
    ///
    /// Throws as ``learn(from:ofResponseAt:)`` does. A response that isn't HTTP's has no effect and isn't an error.
    public func learn(from response: URLResponse) async throws(Failure) {
        guard let response = response as? HTTPURLResponse, let address = response.url?.absoluteString,
            let url = try? HTTPURL(address), let fields = response.boundedFields
        else { return }
        try await learn(from: fields, ofResponseAt: url)
    }
}

extension URLSessionTransport {
    /// One for all that bring none of their own. It keeps nothing between requests but connections.
    static let standard = URLSessionTransport()
}
