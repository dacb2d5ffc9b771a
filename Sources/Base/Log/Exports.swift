// What logs without secrets has secrets.
@_documentation(visibility: internal) @_exported public import LatchkeySecrets
