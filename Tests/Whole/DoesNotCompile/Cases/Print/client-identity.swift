// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming ClientIdentity) {
    print(value)  // expected-error {{argument type 'ClientIdentity' does not conform to expected type 'Copyable'}}
}
