import Foundation
import RedactionAudit
import Secrets
import Testing

/// The secrets of a sign-in that a test could get hold of, searched for in all that was said.
struct Canaries {
    private let audit = LeakAudit()

    /// - Parameter tokens: access and refresh tokens.
    init(record: Person.Record, tokens: [[UInt8]]) throws {
        for token in tokens { try plant(token, as: AccessToken.self) }
        for state in Set([record.asked("state"), record.answered("state"), record.asked("nonce")]) {
            try plant(state.map { Array($0.utf8) }, as: State.self)
        }
        try plant(record.answered("code").map { Array($0.utf8) }, as: AuthorizationCode.self)
    }

    private func plant<Purpose: SecretPurpose>(_ bytes: [UInt8]?, as purpose: Purpose.Type) throws {
        guard let bytes else { return }
        try audit.plant(Secret<Purpose>(copying: bytes.span))
    }

    /// - Parameter shown: what the terminal showed to a person who pastes: the authorization URL, in which `state` is.
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
