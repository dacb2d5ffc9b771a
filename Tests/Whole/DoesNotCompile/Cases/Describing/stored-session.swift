// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming StoredSession) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'StoredSession' conform to 'Copyable'}}
}
