# What git's lib-credential.sh expects of its own test library, for running its suite without building git:
#   credential_suite.sh LIBRARY HELPER
# Ends with the number of cases that failed.
number=0
failed=0
GIT_ASKPASS=$PWD/askpass GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
export GIT_ASKPASS GIT_TERMINAL_PROMPT GIT_CONFIG_NOSYSTEM

write_script() { { echo "#!/bin/sh" && cat; } >"$1" && chmod +x "$1"; }
test_cmp() { diff -u "$1" "$2"; }
test_config() { git config --global "$1" "$2" && configured="$configured $1"; }
test_expect_success() {
    number=$((number + 1)) configured=
    if eval "$2" >case.log 2>&1; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1" && cat case.log
        failed=$((failed + 1))
    fi
    for name in $configured; do git config --global --unset-all "$name"; done
}

. "$1"
helper_test_clean "$2"
helper_test "$2"
echo "1..$number"
exit "$failed"
