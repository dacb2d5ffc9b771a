import LatchkeyHTTP
import LatchkeyOAuth

func exchange(_ callback: consuming ValidatedCallback) {}

func leak(_ response: consuming AuthorizationResponse) {
    exchange(response)  // expected-error {{cannot convert value of type 'AuthorizationResponse' to expected argument type 'ValidatedCallback'}}
}
