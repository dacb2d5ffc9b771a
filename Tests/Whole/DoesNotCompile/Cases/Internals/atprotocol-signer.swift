import LatchkeyATProtocol

private func leak(_ client: ATProtocolClient) async throws {
    print(try await client.service(of: nil))  // expected-error {{'service' is inaccessible due to 'package' protection level}}
}
