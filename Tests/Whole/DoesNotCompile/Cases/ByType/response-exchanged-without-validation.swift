import LatchkeyHTTP
import LatchkeyOAuth

private func exchange(_ callback: consuming ValidatedCallback) {}

private func leak(_ response: consuming AuthorizationResponse) {
    exchange(response)  // expected-error {{cannot convert value of type 'AuthorizationResponse' to expected argument type 'ValidatedCallback'}}
}
