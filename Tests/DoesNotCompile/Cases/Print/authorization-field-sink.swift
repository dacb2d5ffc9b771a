import LatchkeyOAuth

func leak(_ value: consuming AuthorizationFieldSink) {
    print(value)  // expected-error {{argument type 'AuthorizationFieldSink' does not conform to expected type 'Copyable'}}
}
