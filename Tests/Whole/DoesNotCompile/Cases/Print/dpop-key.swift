// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

func leak(_ value: consuming DPoPProofKey) {
    print(value)  // expected-error {{argument type 'DPoPProofKey' does not conform to expected type 'Copyable'}}
}
