import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming CredentialRecord<AccessToken>) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'CredentialRecord<AccessToken>' conform to 'Copyable'}}
}
