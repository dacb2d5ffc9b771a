// Programs that log without secrets have secrets.
@_documentation(visibility: internal) @_exported public import LatchkeySecrets
