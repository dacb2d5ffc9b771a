// Compiled as a part of the package: outside it this has no name.
import LatchkeyJSON
import LatchkeyOAuth

private func leak(_ value: consuming JSONWriter) {
    let hidden: Any = value  // expected-error {{value of type 'JSONWriter' does not conform to specified type 'Copyable'}}
    print(hidden)
}
