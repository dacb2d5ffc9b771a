// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

func leak(_ value: consuming DPoPProofKey) {
    let hidden: Any = value  // expected-error {{value of type 'DPoPProofKey' does not conform to specified type 'Copyable'}}
    print(hidden)
}
