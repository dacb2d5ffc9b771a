package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

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
        let signer = try mapError(SignInError.oauth, of: newSigner())
        let client = try mapError(SignInError.oauth, of: provider.client)
        let authentication = try mapError(SignInError.oauth, of: self.authentication(secret))
        guard
            let endpoint = DeviceAuthorizationEndpoint(server: server, client: client, http: context.http, log: log)
        else { throw .oauth(OAuthError(.invalidMetadata(.withoutDeviceGrant))) }
        do throws(SignInError) {
            let device = try await begin(endpoint, authentication)
            try await mapError(SignInError.userAgent, awaiting: await prompt.show(device))
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
        return try await mapError(SignInError.oauth, awaiting: await endpoint.begin(authentication: authentication))
    }

    private func poll(
        _ device: borrowing DeviceAuthorization, _ server: AuthorizationServerMetadata,
        _ authentication: borrowing ClientAuthentication, _ signer: DPoPProofSigner?, deadline: Deadline,
        clock: PollClock
    ) async throws(SignInError) -> TokenResponse {
        return try await mapError(
            SignInError.oauth,
            awaiting: await tokenEndpoint(server, dpop: signer).poll(
                device, authentication: authentication, timeout: deadline.remaining, clock: clock))
    }
}
