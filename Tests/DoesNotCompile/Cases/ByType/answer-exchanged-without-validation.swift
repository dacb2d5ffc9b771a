import LatchkeyHTTP
import LatchkeyOAuth

func exchange(_ callback: consuming ValidatedCallback) {}

func leak(_ answer: consuming RedirectAnswer) {
    exchange(answer)  // expected-error {{cannot convert value of type 'RedirectAnswer' to expected argument type 'ValidatedCallback'}}
}
