// Compiled as a part of the package: outside it this has no name.
import LatchkeyJSON
import LatchkeyOAuth

private func leak(_ value: consuming JSONDocument) {
    print(value)  // expected-error {{argument type 'JSONDocument' does not conform to expected type 'Copyable'}}
}
