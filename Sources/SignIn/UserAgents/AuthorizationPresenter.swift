internal import LatchkeyCredentials
internal import LatchkeyLog
public import LatchkeyOAuth

/// An adopter's own way to show the authorization page: a web view, a browser of its own.
public protocol AuthorizationPresenter: Sendable {
    /// Shows the page and returns the answer that came to the redirect address, or `nil` when the person closed it.
    ///
    /// `RedirectAnswer(pasted:redirect:)` makes it of the address, which it compares with the redirect's.
    ///
    /// Whatever it throws becomes `.unavailable(.pageFailed)` (`.presenterFailed` in AT Protocol's client), and its
    /// words are dropped, unless it is a `UserAgentError` or a `CancellationError`.
    ///
    /// - Parameters:
    ///   - url: goes out through a named sink alone, since it may hold the state.
    ///   - callbackScheme: of the redirect address, such as `org.example.app`.
    func presentAuthorization(
        at url: consuming AuthorizationURL, callbackScheme: String
    ) async throws -> RedirectAnswer?
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
            _ url: consuming AuthorizationURL, gate: AnswerGate, deadline: Deadline
        ) async throws(UserAgentError) -> RedirectAnswer {
            let answer: RedirectAnswer?
            do {
                answer = try await presenter.presentAuthorization(at: url, callbackScheme: redirect.scheme)
            } catch let error as UserAgentError {
                throw error
            } catch is CancellationError {
                throw .cancelled
            } catch {
                throw .unavailable(.pageFailed)
            }
            guard let answer else { throw .userCancelled }
            guard gate.admit(answer) == .admitted else { throw .onlyForeignAnswers }
            return answer
        }

        func finish(_ outcome: SignInOutcome) async {}
    }
}
