// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

func leak(_ value: consuming DPoPProofKey) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'DPoPProofKey' conform to 'Copyable'}}
}
