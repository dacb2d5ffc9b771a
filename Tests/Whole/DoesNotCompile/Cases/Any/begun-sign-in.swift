// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private typealias BegunSignIn = SignInService.BegunSignIn

private func leak(_ value: consuming BegunSignIn) {
    let hidden: Any = value  // expected-error {{value of type 'BegunSignIn' (aka 'SignInService.BegunSignIn') does not conform to specified type 'Copyable'}}
    print(hidden)
}
