// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming StoredSession) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'StoredSession' does not conform to expected type 'Copyable'}}
}
