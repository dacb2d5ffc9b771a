internal import CLatchkeyCurl
internal import Glibc
internal import LatchkeyLog
internal import Synchronization

/// One request on its way and the response as it comes in.
final class CurlTransfer: @unchecked Sendable {
    // Sendable: made by the caller's task, then touched by the engine's thread alone, until the continuation hands it
    // back; `isCancelled` is atomic.

    private var easy: CurlEasyHandle
    private let lines: HeaderLines
    private let requestBody: LentSecret<MessageBody>?
    private let proxy: Box<Secret<Password>>?
    private let reach: AddressReach
    private let origin: LoggableText

    private var header = ResponseHeader()
    private var body: SecretBuilder?
    private var refusal: TransportError.Code?
    private var failure: TransportError?
    private var refusesAddress = false
    private var continuation: CheckedContinuation<Void, Never>?

    let isCancelled = Atomic(false)

    init(
        _ request: consuming GuardedRequest, limits: TransferLimits, configuration: CurlTransport.Configuration,
        origin: LoggableText
    ) throws(TransportError) {
        guard request.isWellFormed else { throw TransportError(.malformedRequest, origin: origin) }
        let handle = try mapError({ TransportError(.noLibrary($0), origin: origin) }, of: CurlEasyHandle())
        guard var easy = handle else { throw TransportError(.other, origin: origin) }
        self.origin = origin
        proxy = configuration.proxies.address(for: request.url)
        reach = configuration.reach
        lines = try Self.headerLines(of: request, origin: origin)
        easy.setTransport(request.url, limits: limits, configuration: configuration, proxy: proxy)
        unsafe easy.set(CURLOPT_HTTPHEADER, address: lines.first)
        requestBody = LentSecret(request.body.take())
        easy.setMethod(request.method, body: requestBody)
        body = SecretBuilder(limit: limits.maximumBodyByteCount)
        self.easy = easy
    }

    private static func headerLines(
        of request: borrowing GuardedRequest, origin: LoggableText
    ) throws(TransportError) -> HeaderLines {
        var unwanted: [StaticString] = ["Expect"]
        // libcurl would call any body a form.
        if !request.fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            unwanted.append("Content-Type")
        }
        if !request.fields.contains(where: { $0.name.lowercased() == "accept" }) { unwanted.append("Accept") }
        return try mapError(
            { (_: SecretBuilder.LimitExceeded) in TransportError(.malformedRequest, origin: origin) },
            of: HeaderLines(
                fields: request.fields, authorization: request.authorization, proof: request.proof,
                withoutDefaults: unwanted))
    }

    // MARK: - On the engine's thread

    /// libcurl's handle, which lives as long as the transfer.
    @unsafe var handle: UnsafeMutableRawPointer { unsafe easy.pointer }

    /// Tells transfers apart.
    var address: UInt { unsafe UInt(bitPattern: easy.pointer) }

    /// Points libcurl's callbacks at this transfer. Returns the first failure to set any option: then it must not be
    /// sent.
    func begin(_ continuation: CheckedContinuation<Void, Never>) -> CURLcode {
        self.continuation = continuation
        let context = unsafe UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        unsafe easy.set(CURLOPT_HEADERDATA, address: context)
        unsafe easy.set(CURLOPT_WRITEDATA, address: context)
        unsafe easy.set(CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            unsafe CurlTransfer.receive(bytes, size * count, context) { transfer, bytes in transfer.takeHeader(bytes) }
        }
        unsafe easy.set(CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            unsafe CurlTransfer.receive(bytes, size * count, context) { transfer, bytes in transfer.takeBody(bytes) }
        }
        // A proxy's own address is the operator's choice.
        if reach != .anywhere, proxy == nil {
            unsafe easy.set(CURLOPT_OPENSOCKETDATA, address: context)
            unsafe easy.setOpenSocket { context, _, address in
                guard let context = unsafe context, let address = unsafe address else { return CURL_SOCKET_BAD }
                return unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue().openSocket(address)
            }
        }
        return easy.failure
    }

    /// Checks the address of the connection that libcurl is about to make.
    @unsafe private func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard unsafe reach.permits(InternetAddress(address)) else {
            refusesAddress = true
            return CURL_SOCKET_BAD
        }
        let (family, kind, number) = unsafe (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
        return socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), number)
    }

    /// Keeps the result and lets the caller go on.
    func end(_ result: CURLcode) {
        guard let continuation = continuation.take() else { return }
        end(result, resuming: continuation)
    }

    /// The same for a transfer that never began.
    func end(_ result: CURLcode, resuming continuation: CheckedContinuation<Void, Never>) {
        failure = error(for: result)
        continuation.resume()
    }

    @unsafe private static func receive(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ take: (CurlTransfer, Span<UInt8>) -> Bool
    ) -> Int {
        guard count > 0, let bytes = unsafe bytes, let context = unsafe context else { return count }
        let transfer = unsafe Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        let buffer = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
        // Any number but `count` makes libcurl stop with CURLE_WRITE_ERROR.
        return unsafe take(transfer, Span<UInt8>(_unsafeBytes: buffer)) ? count : 0
    }

    private func takeHeader(_ line: Span<UInt8>) -> Bool {
        if header.take(line: line) { return true }
        refusal = .malformedResponse
        return false
    }

    private func takeBody(_ bytes: Span<UInt8>) -> Bool {
        do throws(SecretBuilder.LimitExceeded) {
            try body?.append(bytes)
            return true
        } catch {
            refusal = .bodyTooLarge
            return false
        }
    }

    // MARK: - Back on the caller's task

    /// Returns the response, or throws why there is none. Once.
    func takeResponse() throws(TransportError) -> GuardedResponse {
        if let failure { throw failure }
        guard let body = body.take(), header.status != 0 else {
            throw TransportError(.malformedResponse, origin: origin)
        }
        let isEncoded = header.fields.contains {
            $0.name.lowercased() == "content-encoding" && $0.value.lowercased() != "identity"
        }
        guard !isEncoded else { throw TransportError(.malformedResponse, origin: origin) }
        return GuardedResponse(
            status: header.status, fields: header.fields, body: body.finish(as: MessageBody.self),
            isFromPrivateAddress: isFromPrivateAddress)
    }

    /// False with a proxy, whose destination is unknown, and for a reused connection that may have one.
    private var isFromPrivateAddress: Bool {
        let isDirect = easy.number(CURLINFO_NUM_CONNECTS) > 0 && easy.number(CURLINFO_HTTP_CONNECTCODE) == 0
        guard proxy == nil || isDirect, let address = easy.text(CURLINFO_PRIMARY_IP).flatMap(InternetAddress.init)
        else {
            return false
        }
        return !address.isPublic
    }

    private func error(for result: CURLcode) -> TransportError? {
        if isCancelled.load(ordering: .acquiring) { return TransportError(.cancelled, origin: origin) }
        if result == CURLE_OK { return nil }
        let number = Int(result.rawValue)
        let connectStatus = easy.number(CURLINFO_HTTP_CONNECTCODE)
        if refusesAddress, result == CURLE_COULDNT_CONNECT {
            return TransportError(.addressRefused, origin: origin, number: number)
        }
        if let refusal { return TransportError(refusal, origin: origin, number: number) }
        if proxy != nil, connectStatus != 0, !(200...299).contains(connectStatus) {
            return TransportError(.proxyRefused, origin: origin, number: number)
        }
        let code = TransportError.Code(result, isProxied: proxy != nil && connectStatus == 0)
        let problem =
            code == .certificateRefused
            ? TransportError.CertificateProblem(verifyResult: easy.number(CURLINFO_SSL_VERIFYRESULT)) : nil
        return TransportError(code, origin: origin, number: number, certificateProblem: problem)
    }
}
