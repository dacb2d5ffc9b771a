// Compiled as a part of the package: outside it this has no name.
import LatchkeyCredentials
import LatchkeyOAuth

func leak(_ value: consuming ItemSecret) {
    print(value)  // expected-error {{argument type 'ItemSecret' does not conform to expected type 'Copyable'}}
}
