#!/bin/bash
# Uses one client of the Secret Service as its users do, on the bus of the environment, and prints what it says.
#
#   clients.sh CLIENT [FOLDER] FOLDER holds what Scripts/judges fetched.
set -u
judges=${2:-}
here=$(dirname "$0")

case $1 in
secret-tool)
    printf 'one' | secret-tool store --label='A label' kind test number 1
    printf 'two' | secret-tool store --label='Another' kind test number 2
    printf 'uno' | secret-tool store --label='A label' kind test number 1
    secret-tool lookup kind test number 1; echo
    secret-tool search --all kind test | sed -n 's/^secret = //p' | sort
    secret-tool lookup kind other || echo none
    secret-tool clear kind test number 2
    secret-tool search --all --unlock kind test | grep -c '^\['
    secret-tool clear kind test number 1
    ;;
gh)
    settings=${XDG_CONFIG_HOME:-$HOME/.config}/gh
    mkdir -p "$settings"
    printf 'github.com:\n    users:\n        ada:\n    user: ada\n    git_protocol: https\n' >"$settings/hosts.yml"
    # As gh stores it at a sign-in, which needs the network.
    printf 'gho_abc' | secret-tool store --label='Password for ada on gh:github.com' service gh:github.com username ada
    printf 'gho_abc' | secret-tool store --label='Password for  on gh:github.com' service gh:github.com username ''
    "$judges/keyring/bin/gh" auth token
    printf 'protocol=https\nhost=github.com\n' | "$judges/keyring/bin/gh" auth git-credential get | grep -c '^password=gho_abc'
    "$judges/keyring/bin/gh" auth logout --hostname github.com 2>&1 | grep -o 'Logged out'
    secret-tool lookup service gh:github.com username ada || echo none
    ;;
uv)
    export UV_PREVIEW_FEATURES=native-auth UV_NO_PROGRESS=1
    "$judges/python/bin/uv" auth login https://pypi.example/simple --username ada --password 'pass word' 2>/dev/null || echo refused
    "$judges/python/bin/uv" auth token https://pypi.example/simple --username ada
    "$judges/python/bin/uv" auth logout https://pypi.example/simple --username ada 2>/dev/null || echo refused
    "$judges/python/bin/uv" auth token https://pypi.example/simple --username ada 2>/dev/null || echo none
    ;;
cargo)
    coproc registry { exec /usr/bin/python3 "$here/../../Commands/HelperTests/Fixtures/cargo_registry.py" 'a token'; }
    read -r _ port <&"${registry[0]}"
    mkdir -p "$HOME/.cargo" && cd "$HOME" || exit
    printf '[registries.own]\nindex = "sparse+http://127.0.0.1:%s/"\ncredential-provider = ["cargo:libsecret"]\n' \
        "$port" >.cargo/config.toml
    printf 'a token' | cargo login --registry own >/dev/null 2>&1 || echo refused
    cargo owner --registry own --list crate 2>/dev/null
    cargo logout --registry own >/dev/null 2>&1 || echo refused
    cargo owner --registry own --list crate >/dev/null 2>&1 || echo none
    kill "$registry_PID"
    ;;
docker)
    address=https://registry.example/v1/
    printf '{"ServerURL":"%s","Username":"ada","Secret":"pass word"}' "$address" | docker-credential-secretservice store
    printf '%s' "$address" | docker-credential-secretservice get; echo
    docker-credential-secretservice list
    printf '%s' "$address" | docker-credential-secretservice erase
    printf '%s' "$address" | docker-credential-secretservice get >/dev/null || echo none
    ;;
chromium)
    coproc server { exec /usr/bin/python3 "$here/cookie_server.py"; }
    read -r port <&"${server[0]}"
    start() {
        chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
            --user-data-dir="$HOME/profile" --password-store=gnome-libsecret --dump-dom "http://127.0.0.1:$port/" \
            2>/dev/null | grep -o 'cookie: [a-z=]*'
    }
    start
    start
    secret-tool search --all --unlock application chromium 2>&1 | sed -n 's/^label = //p'
    # Without its key the profile's cookies can't be read: so the key was there.
    secret-tool clear application chromium
    start
    kill "$server_PID"
    ;;
*) exit 64 ;;
esac
exit 0
