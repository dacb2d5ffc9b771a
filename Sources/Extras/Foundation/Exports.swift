// `URLRequest` and `URLSession` are there for authenticated requests.
@_documentation(visibility: internal) @_exported public import LatchkeyAuthenticator
