import Foundation
import LatchkeyLeakAudit
import LatchkeySecrets
import Testing
import TestServices

/// The secrets of a sign-in that a test could get hold of, searched for in all that was said.
struct Canaries {
    private let audit = LeakAudit()

    /// - Parameters:
    ///   - tokens: access and refresh tokens.
    ///   - pasted: whether the person was shown the authorization URL, and the nonce in it, to open it elsewhere.
    init(record: Person.Record, tokens: [[UInt8]], pasted: Bool = false) throws {
        for token in tokens { try plant(token, as: AccessToken.self) }
        for state in Set([record.requested("state"), record.responded("state")]) {
            try plant(state.map { Array($0.utf8) }, as: AuthorizationState.self)
        }
        if !pasted { try plant(record.requested("nonce").map { Array($0.utf8) }, as: OpenIDNonce.self) }
        try plant(record.responded("code").map { Array($0.utf8) }, as: AuthorizationCode.self)
    }

    private func plant<Purpose: SecretPurpose>(_ bytes: [UInt8]?, as purpose: Purpose.Type) throws {
        guard let bytes else { return }
        try audit.plant(Secret<Purpose>(copying: bytes.span))
    }

    /// - Parameter shown: what the terminal showed to a person who pastes: the authorization URL, in which `state` is.
    /// Adds what a session in the store holds, as another program reads it from the keyring.
    func add(session: [UInt8]) throws {
        let members = try JSONSerialization.jsonObject(with: Data(session)) as? [String: Any]
        try plant((members?["access_token"] as? String).map { Array($0.utf8) }, as: AccessToken.self)
        let refresh = try #require(members?["refresh_token"] as? String)
        try plant(Array(refresh.utf8), as: RefreshToken.self)
    }

    func add(clientSecret: String) throws { try plant(Array(clientSecret.utf8), as: ClientSecret.self) }

    /// Searches the files that a session leaves: configuration, vault or keyring, state, leases.
    func expectNone(inFilesOf directory: TestDirectory, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for folder in ["home", "config", "data", "state", "cache", "run", "tmp"] {
            try audit.capture(folder: directory / folder)
        }
        let report = audit.report()
        #expect(report.findings.isEmpty, "\(report.findings)", sourceLocation: sourceLocation)
    }

    func expectNone(
        in transcript: [UInt8], shown: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try #require(transcript.count > 500, "there is nothing to search in")
        audit.capture(transcript, as: "output and logs")
        if let shown { audit.capture(shown, as: "the terminal", allowing: .stateInURLThatPastePrints) }
        let report = audit.report()
        try #require(report.canaryCount >= 2)
        #expect(report.findings.isEmpty, "\(report.findings)", sourceLocation: sourceLocation)
    }
}
