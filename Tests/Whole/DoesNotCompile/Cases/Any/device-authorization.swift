import LatchkeyOAuth

private func leak(_ value: consuming DeviceAuthorization) {
    let hidden: Any = value  // expected-error {{value of type 'DeviceAuthorization' does not conform to specified type 'Copyable'}}
    print(hidden)
}
