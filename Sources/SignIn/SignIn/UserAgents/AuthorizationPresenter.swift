internal import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeyOAuth

/// An adopter's own way to show the authorization page: a web view, a browser of its own.
public protocol AuthorizationPresenter: Sendable {
    /// Shows the page and returns the response that came to the redirect address, or `nil` when the person closed it.
    ///
    /// `AuthorizationResponse(pasted:redirect:)` makes it of the address, which it compares with the redirect's.
    ///
    /// Whatever it throws becomes `.unavailable(.pageFailed)` (`.presenterFailed` in AT Protocol's client), and its
    /// words are dropped, unless it is a ``UserAgentError`` or a `CancellationError`.
    ///
    /// - Parameters:
    ///   - url: goes out through a named sink alone, since it may hold the state.
    ///   - callbackScheme: of the redirect address, such as `org.example.app`.
    func presentAuthorization(
        at url: consuming AuthorizationURL, callbackScheme: String
    ) async throws -> AuthorizationResponse?
}

/// Lets a presenter stand where a user agent does.
package struct PresentingUserAgent: RedirectUserAgent {
    private let presenter: any AuthorizationPresenter

    package init(presenter: any AuthorizationPresenter) {
        self.presenter = presenter
    }

    package func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        guard !redirect.needsPort else { throw .unavailable(.unsupportedRedirect) }
        return Attempt(redirect: redirect, presenter: presenter)
    }

    private final class Attempt: UserAgentAttempt {
        let redirect: RedirectURI
        private let presenter: any AuthorizationPresenter

        init(redirect: RedirectURI, presenter: any AuthorizationPresenter) {
            self.redirect = redirect
            self.presenter = presenter
        }

        func present(
            _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
        ) async throws(UserAgentError) -> AuthorizationResponse {
            let response: AuthorizationResponse?
            do {
                response = try await presenter.presentAuthorization(at: url, callbackScheme: redirect.scheme)
            } catch let error as UserAgentError {
                throw error
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .unavailable(.pageFailed)
            }
            guard let response else { throw .userCancelled }
            guard gate.admit(response) == .admitted else { throw .onlyForeignResponses }
            return response
        }

        func finish(_ outcome: SignInOutcome) async {}
    }
}
