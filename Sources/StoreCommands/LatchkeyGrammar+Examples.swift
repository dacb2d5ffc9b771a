extension LatchkeyGrammar {
    /// Command lines to copy, by command. They stand together because they tell one story: the same service, the same
    /// people. Each of them is parsed by a test.
    static let examples: [String: [StaticString]] = [
        "set": [
            "latchkey set example.org alice", "printf %s s3cret | latchkey set example.org alice",
        ],
        "get": [
            "latchkey get example.org alice", "latchkey get example.org alice --clip",
            "latchkey get example.org alice --no-prompt --store vault",
        ],
        "delete": ["latchkey delete example.org alice"],
        "list": [
            "latchkey list", "latchkey list exam", "latchkey list --stale 365", "latchkey list --json",
            "latchkey list --items",
        ],
        "generate": [
            "latchkey generate example.org alice", "latchkey generate --words 5", "latchkey generate --length 40",
        ],
        "rename": ["latchkey rename example.org alice ada", "latchkey rename example.org alice example.com ada"],
        "edit": ["latchkey edit example.org alice"],
        "search": ["latchkey search alice"],
        "copy": ["latchkey copy --from secret-service --to vault example.org"],
        "move": [
            "latchkey move --from secret-service --to vault --dry-run",
            "latchkey move --from secret-service --to vault",
        ],
        "import": [
            "latchkey import --from git --dry-run", "latchkey import --from gh",
            "latchkey import --from docker --empty-source",
            "latchkey import --from gnome-keyring-collection Login",
        ],
        "setup": [
            "latchkey setup", "latchkey setup git", "latchkey setup docker --print", "latchkey setup git --undo",
        ],
        "helper git": ["latchkey helper git get"],
        "helper docker": ["latchkey helper docker list"],
        "helper cargo": ["latchkey helper cargo"],
        "helper keyring": ["latchkey helper keyring get --mode creds https://pypi.example.org/simple"],
        "helper kubectl": ["latchkey helper kubectl work"],
        "helper aws": ["latchkey helper aws default"],
        "helper go": ["latchkey helper go https://example.org/module"],
        "helper terraform": ["latchkey helper terraform get app.terraform.io"],
        "helper askpass": ["latchkey helper askpass QUESTION"],
        "helper systemd": ["latchkey helper systemd"],
        "doctor": ["latchkey doctor", "latchkey doctor --json"],
        "sign-in": [
            "latchkey sign-in mastodon --host mastodon.social", "latchkey sign-in github --client-id ID --device",
            "latchkey sign-in work --issuer https://login.example.org --client-id ID",
            "latchkey sign-in work --account alice",
        ],
        "sign-out": ["latchkey sign-out github", "latchkey sign-out --everywhere"],
        "accounts": ["latchkey accounts", "latchkey accounts github --json"],
        "use": ["latchkey use github alice"],
        "token": ["latchkey token github | wl-copy"],
        "request": [
            "latchkey request github /user", "latchkey request github '/user/repos?page=2' --include",
            "latchkey request github /user/repos --json-body '{\"name\": \"example\"}'",
            "latchkey request github PATCH /user --data @profile.json",
        ],
        "run": [
            "latchkey run --env PGPASSWORD=db.example.org/ada -- psql -h db.example.org",
            "latchkey run --env-file .env --mask -- make deploy",
            "latchkey run --file KEY=deploy/ada -- sh -c 'ssh -i \"$KEY\" example.org'",
            "latchkey run github -- gh api user", "latchkey run work --env TOKEN -- make deploy",
        ],
        "provider add": [
            "latchkey provider add github --client-id ID",
            "latchkey provider add work --issuer https://login.example.org --client-id ID",
            "latchkey provider add forge --service codeberg --host git.example.org --client-id ID",
        ],
        "provider list": ["latchkey provider list"],
        "provider remove": ["latchkey provider remove work"],
        "scheme add": ["latchkey scheme add com.example.app"],
        "scheme list": ["latchkey scheme list"],
        "scheme remove": ["latchkey scheme remove com.example.app"],
        "scheme receive": ["latchkey scheme receive 'com.example.app:/callback?code=CODE&state=STATE'"],
        "demo": ["latchkey demo"],
        "vault init": [
            "latchkey vault init", "latchkey vault init --key-file ~/.config/latchkey/vault.key",
            "latchkey vault init --vault ~/other.vault",
        ],
        "vault unlock": ["latchkey vault unlock --for 8h"],
        "vault lock": ["latchkey vault lock"],
        "vault status": ["latchkey vault status"],
        "vault passwd": ["latchkey vault passwd"],
        "vault slots": ["latchkey vault slots"],
        "vault add-slot": [
            "latchkey vault add-slot laptop --key-file laptop.key",
            "latchkey vault add-slot spare --replace passphrase",
        ],
        "vault remove-slot": ["latchkey vault remove-slot laptop"],
        "vault new-key": ["latchkey vault new-key | systemd-creds encrypt --name=latchkey - latchkey.cred"],
        "vault export": ["latchkey vault export ~/backup.vault"],
        "vault import": [
            "latchkey vault import ~/backup.vault", "latchkey vault import old.vault --on-conflict keep",
            "latchkey vault import ~/backup.vault --key-file ~/backup.key --new-key-file ~/vault.key",
        ],
        "vault rekey": ["latchkey vault rekey"],
        "vault verify": ["latchkey vault verify"],
        "vault accept-rollback": ["latchkey vault accept-rollback"],
        "completions": [
            "source <(latchkey completions bash)", "latchkey completions zsh > ~/.zfunc/_latchkey",
            "latchkey completions fish > ~/.config/fish/completions/latchkey.fish",
        ],
        "help": ["latchkey help", "latchkey help vault", "latchkey help vault init"],
        "version": ["latchkey version"],
    ]
}
