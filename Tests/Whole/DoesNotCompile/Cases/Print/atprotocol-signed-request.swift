import LatchkeyATProtocol
import LatchkeyHTTP

private func leak(_ client: ATProtocolClient, _ request: consuming GuardedRequest) async throws {
    print(try await client.authenticateResourceRequest(request))  // expected-error {{argument type 'GuardedRequest' does not conform to expected type 'Copyable'}}
}
