// Compiled as a part of the package: outside it this has no name.
import LatchkeyCrypto
import LatchkeyOAuth

private func leak(_ value: consuming SecretServiceKeyExchange) {
    let hidden: Any = value  // expected-error {{value of type 'SecretServiceKeyExchange' does not conform to specified type 'Copyable'}}
    print(hidden)
}
