package import LatchkeyHTTP

/// Finds who an account is. Shipped: ``NetworkIdentityResolver``; tests and adopters may have their own.
public protocol IdentityResolver: Sendable {
    /// Returns the DID that a handle leads to. Throws `.handleNotFound` when it leads to none.
    func did(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID

    /// Returns a DID's document. Throws `.didNotFound`, `.invalidDocument`.
    func document(of did: DID) async throws(ATProtocolError) -> DIDDocument
}

/// An account whose handle and DID were found to name each other.
package struct ResolvedIdentity: Sendable, Hashable {
    package let did: DID
    /// `nil` when the account was named by its DID: then no handle was looked up.
    package let handle: ATProtocolHandle?
    package let personalServer: HTTPURL
}

extension IdentityResolver {
    /// Returns an account's identity, verified in both directions.
    ///
    /// Throws `.handleMismatch` when the document that the handle leads to names another handle or none.
    package func identity(of identifier: AccountIdentifier) async throws(ATProtocolError) -> ResolvedIdentity {
        switch identifier {
        case .did(let did):
            let document = try await checkedDocument(of: did)
            return ResolvedIdentity(did: did, handle: nil, personalServer: document.personalServer)
        case .handle(let handle):
            let did = try await did(of: handle)
            let document = try await checkedDocument(of: did)
            guard document.claimedHandle == handle else { throw ATProtocolError(.handleMismatch) }
            return ResolvedIdentity(did: did, handle: handle, personalServer: document.personalServer)
        }
    }

    /// Another program's resolver may respond with another DID's document.
    private func checkedDocument(of did: DID) async throws(ATProtocolError) -> DIDDocument {
        let document = try await document(of: did)
        guard document.did == did else { throw .document(.notThisDID) }
        return document
    }
}
