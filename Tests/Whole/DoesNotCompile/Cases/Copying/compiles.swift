import LatchkeySecrets

private struct Account: ~Copyable {
    let token: Secret<AccessToken>
}

private enum Outcome: ~Copyable {
    case success(Secret<AccessToken>)
    case failure
}

private func copy(_ token: borrowing Secret<AccessToken>) -> Secret<AccessToken> {
    token.duplicate()
}

private func move(_ token: consuming Secret<AccessToken>) {
    let other = consume token
    print(other.byteCount)
}

private func share(_ token: consuming Secret<AccessToken>) {
    Task { [token = consume token] in print(token.byteCount) }
}
