extension LatchkeyGrammar {
    /// What people call our commands who know other programs' names for them. They are answered with the command, and
    /// not taken for it: one name for one thing in scripts.
    ///
    /// The second word of a command alone, such as `init`, needs no line here.
    static let synonyms: [(word: StaticString, command: StaticString)] = [
        ("add", "set"), ("save", "set"), ("store", "set"), ("put", "set"), ("insert", "set"), ("new", "set"),
        ("show", "get"), ("cat", "get"), ("read", "get"), ("lookup", "get"), ("print", "get"), ("open", "get"),
        ("rm", "delete"), ("remove", "delete"), ("del", "delete"), ("erase", "delete"), ("clear", "delete"),
        ("ls", "list"), ("find", "search"), ("grep", "search"),
        ("mv", "rename"), ("cp", "copy"),
        ("login", "sign-in"), ("signin", "sign-in"), ("auth", "sign-in"), ("logon", "sign-in"),
        ("logout", "sign-out"), ("signout", "sign-out"), ("logoff", "sign-out"),
        ("whoami", "accounts"), ("users", "accounts"), ("switch", "use"), ("select", "use"),
        ("api", "request"), ("curl", "request"), ("exec", "run"), ("with", "run"),
        ("create", "vault init"), ("backup", "vault export"), ("restore", "vault import"),
        ("status", "doctor"), ("check", "doctor"), ("providers", "provider list"), ("completion", "completions"),
        ("vault create", "vault init"), ("vault open", "vault unlock"), ("vault close", "vault lock"),
        ("vault check", "vault verify"), ("vault backup", "vault export"), ("vault restore", "vault import"),
        ("vault list", "vault slots"), ("vault keys", "vault slots"),
        ("provider ls", "provider list"), ("provider rm", "provider remove"), ("provider delete", "provider remove"),
        ("provider new", "provider add"), ("scheme ls", "scheme list"), ("scheme rm", "scheme remove"),
    ]
}
