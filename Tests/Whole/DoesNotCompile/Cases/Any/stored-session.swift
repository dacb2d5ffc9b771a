// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming StoredSession) {
    let hidden: Any = value  // expected-error {{value of type 'StoredSession' does not conform to specified type 'Copyable'}}
    print(hidden)
}
