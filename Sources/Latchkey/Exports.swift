// `import Latchkey` is all that a program needs to keep secrets, to log without them and to sign people in. Whole
// modules are re-exported, never declarations: a declaration would hide another package's type of the same name.

@_documentation(visibility: internal) @_exported public import LatchkeyCredentials
@_documentation(visibility: internal) @_exported public import LatchkeyHTTP
@_documentation(visibility: internal) @_exported public import LatchkeyLog
@_documentation(visibility: internal) @_exported public import LatchkeyOAuth
@_documentation(visibility: internal) @_exported public import LatchkeyProcess
@_documentation(visibility: internal) @_exported public import LatchkeySecretService
@_documentation(visibility: internal) @_exported public import LatchkeySecrets
@_documentation(visibility: internal) @_exported public import LatchkeySignIn
@_documentation(visibility: internal) @_exported public import LatchkeyStoreSelection
@_documentation(visibility: internal) @_exported public import LatchkeyVault
