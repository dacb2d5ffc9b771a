// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

func leak(_ value: consuming DPoPProofKey) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'DPoPProofKey' conform to 'Copyable'}}
}
