import LatchkeySecrets

struct Account: ~Copyable {
    let token: Secret<AccessToken>
}

enum Outcome: ~Copyable {
    case success(Secret<AccessToken>)
    case failure
}

func copy(_ token: borrowing Secret<AccessToken>) -> Secret<AccessToken> {
    token.duplicate()
}

func move(_ token: consuming Secret<AccessToken>) {
    let other = consume token
    print(other.byteCount)
}

func share(_ token: consuming Secret<AccessToken>) {
    Task { [token = consume token] in print(token.byteCount) }
}
