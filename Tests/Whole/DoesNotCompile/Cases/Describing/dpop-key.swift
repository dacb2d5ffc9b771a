// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming ES256Key) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'ES256Key' conform to 'Copyable'}}
}
