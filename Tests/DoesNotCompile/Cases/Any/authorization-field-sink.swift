import LatchkeyOAuth

func leak(_ value: consuming AuthorizationFieldSink) {
    let hidden: Any = value  // expected-error {{value of type 'AuthorizationFieldSink' does not conform to specified type 'Copyable'}}
    print(hidden)
}
