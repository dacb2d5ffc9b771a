import LatchkeyOAuth

func exchange(_ callback: consuming ValidatedCallback) {}

func leak(_ callback: consuming ValidatedCallback) {  // expected-error {{'callback' consumed more than once}}
    exchange(callback)
    exchange(callback)
}
