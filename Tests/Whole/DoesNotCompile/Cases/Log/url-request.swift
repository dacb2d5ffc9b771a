import LatchkeyFoundation
import Foundation
import FoundationNetworking
import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ authenticator: OAuthAuthenticator, _ request: URLRequest) async throws {
    let signed = try await authenticator.unprotectedAuthenticatedRequest(for: request)
    logger.info("sends \(signed)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged}}
}
