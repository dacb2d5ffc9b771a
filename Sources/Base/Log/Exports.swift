// Programs that log without secrets have secrets. LatchkeySystem has no public declaration, so this package alone sees
// it.
@_documentation(visibility: internal) @_exported public import LatchkeySecrets
@_documentation(visibility: internal) @_exported public import LatchkeySystem
