// Compiled as a part of the package: outside it this has no name.
import LatchkeyJSON
import LatchkeyOAuth

private func leak(_ value: consuming JSONWriter) {
    print(value)  // expected-error {{argument type 'JSONWriter' does not conform to expected type 'Copyable'}}
}
