// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ value: consuming StoredSession) {
    dump(value)  // expected-error {{global function 'dump(_:name:indent:maxDepth:maxItems:)' requires that 'StoredSession' conform to 'Copyable'}}
}
