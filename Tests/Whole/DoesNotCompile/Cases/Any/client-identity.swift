// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming ClientIdentity) {
    let hidden: Any = value  // expected-error {{value of type 'ClientIdentity' does not conform to specified type 'Copyable'}}
    print(hidden)
}
