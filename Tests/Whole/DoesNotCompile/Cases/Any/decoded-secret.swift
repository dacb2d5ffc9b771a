// Compiled as a part of the package: outside it this has no name.
import LatchkeyDBus
import LatchkeySecrets

private func leak(_ value: consuming DecodedSecret<Password>) {
    let hidden: Any = value  // expected-error {{value of type 'DecodedSecret<Password>' does not conform to specified type 'Copyable'}}
    print(hidden)
}
