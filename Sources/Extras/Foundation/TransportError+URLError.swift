internal import Foundation
internal import FoundationNetworking
internal import LatchkeyHTTP
internal import LatchkeyLog

extension TransportError {
    /// The error of ours that says what one of Foundation's means; its words are dropped.
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
            case .cannotParseResponse, .cannotDecodeContentData, .cannotDecodeRawData:
                .malformedResponse
            case .badURL, .unsupportedURL: .malformedRequest
            default: .other
            }
    }
}
