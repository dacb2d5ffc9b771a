import LatchkeyLeakAudit
import LatchkeySecrets

private func leak(_ audit: LeakAudit) throws {
    print(try audit.plantRandom(AccessToken.self))  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'Copyable'}}
}
