import LatchkeyOAuth

private func leak(_ value: consuming DeviceAuthorization) {
    print(value)  // expected-error {{argument type 'DeviceAuthorization' does not conform to expected type 'Copyable'}}
}
