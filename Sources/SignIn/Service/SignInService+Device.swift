package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeySecrets

extension SignInService {
    /// Signs a person in who confirms on another device (RFC 8628).
    ///
    /// - Parameters:
    ///   - prompt: shows the person what to enter where.
    ///   - clock: what waits between two questions to the server.
    @discardableResult
    package func signIn(
        showing prompt: any DevicePrompt, account: String? = nil, deadline: Deadline, clock: PollClock = .continuous
    ) async throws(SignInError) -> SessionSummary {
        let provider = provider
        return try await superseding { () async throws(SignInError) in
            try await self.attemptSignIn(
                provider, showing: prompt, account: account, deadline: deadline, clock: clock)
        }
    }

    private func attemptSignIn(
        _ provider: OAuthProvider, showing prompt: any DevicePrompt, account: String?, deadline: Deadline,
        clock: PollClock
    ) async throws(SignInError) -> SessionSummary {
        try await refuseEarly(provider, account)
        let secret = try await clientSecret()
        let server = try await server()
        let signer = try reported { () throws(OAuthError) in try newSigner() }
        let client = try reported { () throws(OAuthError) in try provider.client }
        let authentication = try reported { () throws(OAuthError) in try self.authentication(secret) }
        guard
            let endpoint = DeviceAuthorizationEndpoint(server: server, client: client, http: context.http, log: log)
        else { throw .oauth(OAuthError(.invalidMetadata(.withoutDeviceGrant))) }
        do throws(SignInError) {
            let device = try await begin(endpoint, authentication)
            do throws(UserAgentError) {
                try await prompt.show(device)
            } catch {
                throw .userAgent(error)
            }
            let tokens = try await poll(device, server, authentication, signer, deadline: deadline, clock: clock)
            let summary = try await keep(tokens, named: account, server: server, secret: secret, signer: signer)
            await prompt.finish(.signedIn)
            return summary
        } catch {
            await prompt.finish(.failed(error))
            throw error
        }
    }

    private func begin(
        _ endpoint: DeviceAuthorizationEndpoint, _ authentication: borrowing ClientAuthentication
    ) async throws(SignInError) -> DeviceAuthorization {
        do throws(OAuthError) {
            return try await endpoint.begin(authentication: authentication)
        } catch {
            throw .oauth(error)
        }
    }

    private func poll(
        _ device: borrowing DeviceAuthorization, _ server: AuthorizationServerMetadata,
        _ authentication: borrowing ClientAuthentication, _ signer: DPoPProofSigner?, deadline: Deadline,
        clock: PollClock
    ) async throws(SignInError) -> TokenResponse {
        do throws(OAuthError) {
            return try await tokenEndpoint(server, dpop: signer).poll(
                device, authentication: authentication, timeout: deadline.remaining, clock: clock)
        } catch {
            throw .oauth(error)
        }
    }
}
