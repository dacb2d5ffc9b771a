// A program that logs without secrets uses LatchkeySecrets. LatchkeySystem doesn't have a public declaration, so only
// this package sees it.
@_documentation(visibility: internal) @_exported public import LatchkeySecrets
@_documentation(visibility: internal) @_exported public import LatchkeySystem
