internal import CLatchkeyCurl
internal import LatchkeySecrets
internal import LatchkeySystem

extension CurlEasyHandle {
    /// Sets everything but method, header and body.
    mutating func setTransport(
        _ url: HTTPURL, limits: TransferLimits, configuration: CurlTransport.Configuration,
        proxy: Box<Secret<Password>>?
    ) {
        set(CURLOPT_URL, copying: url.text)
        set(CURLOPT_PATH_AS_IS, true)
        set(CURLOPT_DISALLOW_USERNAME_IN_URL, true)
        set(CURLOPT_PROTOCOLS_STR, copying: url.scheme.rawValue)
        set(CURLOPT_FOLLOWLOCATION, false)
        set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        set(CURLOPT_HTTP09_ALLOWED, false)
        set(CURLOPT_USERAGENT, copying: configuration.userAgent)
        set(CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        set(CURLOPT_NOSIGNAL, true)
        // Giving up must not wait for a resolver that is stuck: its thread is left to end by itself.
        set(CURLOPT_QUICK_EXIT, true)
        setLimits(limits)
        setProxy(proxy, exceptions: configuration.reach == .anywhere ? configuration.proxies.exceptions : "")
        if url.scheme == .https { setTLS(configuration.trust) }
    }

    private mutating func setLimits(_ limits: TransferLimits) {
        let (seconds, attoseconds) = limits.boundedTimeout.components
        // Zero would mean no limit at all.
        let milliseconds = seconds * 1000 + attoseconds / 1_000_000_000_000_000
        set(CURLOPT_TIMEOUT_MS, Int(max(milliseconds, 1)))
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(max(milliseconds, 1)))
        // Refuses an announced length early; what really comes in is counted by the transfer.
        set(CURLOPT_MAXFILESIZE, max(limits.maximumBodyByteCount, 0))
    }

    private mutating func setProxy(_ proxy: Box<Secret<Password>>?, exceptions: String) {
        // Both are always set, because otherwise libcurl reads the environment. An empty text means no proxy.
        set(CURLOPT_NOPROXY, copying: proxy == nil ? "*" : exceptions)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, true)
        set(CURLOPT_HTTPPROXYTUNNEL, true)
        guard let proxy else {
            set(CURLOPT_PROXY, copying: "")
            return
        }
        proxy.value.withExposedBytes { bytes in
            unsafe bytes.withUnsafeBytes { unsafe set(CURLOPT_PROXY, address: $0.baseAddress) }
        }
    }

    private mutating func setTLS(_ trust: CurlTransport.CertificateTrust) {
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_SSL_VERIFYPEER, true)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        hardenTLS()
        // Reading the system's file takes tens of milliseconds. libcurl keeps it for the next connection of this
        // client, but only when it is the whole truth: without a directory beside it.
        set(CURLOPT_CA_CACHE_TIMEOUT, 300)
        switch trust {
        case .system:
            if latchkey_curl_has_bundle() != 0 { unsafe set(CURLOPT_CAPATH, address: nil) }
        case .only(let file):
            set(CURLOPT_CAINFO, copying: file)
            unsafe set(CURLOPT_CAPATH, address: nil)
        }
    }

    /// Sets method and body. The body must outlive the handle.
    mutating func setMethod(_ method: GuardedRequest.Method, body: LentSecret<MessageBody>?) {
        // libcurl repeats a request that finds a kept connection closed. A code or a rotating refresh token must not be
        // sent twice, so these requests use no kept connection.
        set(CURLOPT_FRESH_CONNECT, method != .get && method != .head)
        let hasBody = body != nil
        switch method {
        case .get where !hasBody: set(CURLOPT_HTTPGET, true)
        case .head where !hasBody:
            set(CURLOPT_NOBODY, true)
            // The length that is announced is that of a body which doesn't come.
            set(CURLOPT_MAXFILESIZE, 0)
        case .delete where !hasBody: set(CURLOPT_CUSTOMREQUEST, copying: method.rawValue)
        default:
            set(CURLOPT_POST, true)
            set(CURLOPT_CUSTOMREQUEST, copying: method.rawValue)
            setBody(body)
        }
    }

    private mutating func setBody(_ body: LentSecret<MessageBody>?) {
        // Static, hence alive: without an address libcurl would read the body from standard input.
        let empty: StaticString = ""
        unsafe setBody(
            address: body?.lentBytes.baseAddress ?? UnsafeRawPointer(empty.utf8Start), byteCount: body?.byteCount ?? 0)
    }
}

extension TransportError.Code {
    /// Sorts libcurl's results. `isProxied` says that a connection to the proxy was still to be made.
    init(_ result: CURLcode, isProxied: Bool) {
        switch result {
        case CURLE_COULDNT_RESOLVE_HOST: self = .cannotResolveHost
        case CURLE_COULDNT_CONNECT: self = isProxied ? .proxyRefused : .cannotConnect
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY: self = .proxyRefused
        case CURLE_OPERATION_TIMEDOUT: self = .timedOut
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            self = .certificateRefused
        case CURLE_SSL_CACERT_BADFILE: self = .certificateAuthoritiesUnreadable
        case CURLE_SSL_CONNECT_ERROR: self = .handshakeFailed
        case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR: self = .connectionLost
        case CURLE_FILESIZE_EXCEEDED: self = .bodyTooLarge
        // A first line that is no HTTP counts as HTTP/0.9, which is an unsupported protocol.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_BAD_CONTENT_ENCODING: self = .malformedResponse
        default: self = .other
        }
    }
}

extension TransportError.CertificateProblem {
    /// Sorts OpenSSL's verification results (X509_STORE_CTX_get_error(3)).
    init(verifyResult: Int) {
        switch Int32(truncatingIfNeeded: verifyResult) {
        // libcurl compares names after a chain was found good, and before it asks OpenSSL for the result: it still says
        // "unspecified" then.
        case X509_V_OK, X509_V_ERR_UNSPECIFIED, X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            self = .wrongHost
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED:
            self = .untrustedIssuer
        default: self = .other
        }
    }
}
