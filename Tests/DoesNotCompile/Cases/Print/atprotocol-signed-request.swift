import LatchkeyATProtocol
import LatchkeyHTTP

func leak(_ client: ATProtocolClient, _ request: consuming HTTPRequest) async throws {
    print(try await client.authenticateResourceRequest(request))  // expected-error {{argument type 'HTTPRequest' does not conform to expected type 'Copyable'}}
}
