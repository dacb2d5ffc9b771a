// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming StoredSession) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'StoredSession' conform to 'Copyable'}}
}
