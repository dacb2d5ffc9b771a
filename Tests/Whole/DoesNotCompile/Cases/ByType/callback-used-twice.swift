import LatchkeyOAuth

private func exchange(_ callback: consuming ValidatedCallback) {}

private func leak(_ callback: consuming ValidatedCallback) {  // expected-error {{'callback' consumed more than once}}
    exchange(callback)
    exchange(callback)
}
