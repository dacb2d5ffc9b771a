// Compiled as a part of the package: outside it this has no name.
import LatchkeyJSON
import LatchkeyOAuth

private func leak(_ value: consuming JSONDocument) {
    let hidden: Any = value  // expected-error {{value of type 'JSONDocument' does not conform to specified type 'Copyable'}}
    print(hidden)
}
