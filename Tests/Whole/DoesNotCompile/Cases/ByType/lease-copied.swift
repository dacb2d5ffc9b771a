// Compiled as a part of the package: outside it this has no name.
import LatchkeyCredentials

private func leak(_ lease: consuming Lease) -> [Int] {  // expected-error {{'lease' consumed more than once}}
    let copy = lease
    lease.release()
    copy.release()
    return []
}
