import Foundation
import LatchkeyFoundation
import FoundationNetworking
import LatchkeyHTTP

private func leak(_ request: borrowing GuardedRequest) throws {
    print(try request.foundationRequest(timeout: .seconds(1)))  // expected-error {{'foundationRequest' is inaccessible due to 'internal' protection level}}
}
