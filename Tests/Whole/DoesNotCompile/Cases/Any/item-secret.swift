// Compiled as a part of the package: outside it this has no name.
import LatchkeyCredentials
import LatchkeyOAuth

func leak(_ value: consuming ItemSecret) {
    let hidden: Any = value  // expected-error {{value of type 'ItemSecret' does not conform to specified type 'Copyable'}}
    print(hidden)
}
