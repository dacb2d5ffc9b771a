internal import RedactedLog
internal import SignIn
internal import StoreCommands
internal import Terminal

/// `latchkey sign-out PROVIDER`.
enum SignOutCommand {
    static let command = Command(SignInDefinitions.signOut) { arguments, context in
        let service = try await context.service(arguments)
        let report = await service.signOut(arguments.value(SignInDefinitions.account))
        switch report.deletion {
        case .failed(let error):
            throw error
        case .absent:
            throw SignInError(.notSignedIn)
        case .deleted:
            context.output.note("\(report)")
        }
        // The session is gone from here; that the server still accepts its tokens must not go unnoticed.
        if case .failed(let error) = report.revocation { throw error }
        return .success
    }
}
