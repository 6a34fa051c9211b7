# What else a change must pass, a function each. Sourced by ./test.

style() {
    # A part goes on after a command that fails: each failure is noted.
    local file bad=0
    cargo fmt --all --check || bad=1
    # Each file with unsafe code has its row in UNSAFE.md.
    while read -r file; do
        grep -qF -e "${file##*/src/}" -e "$file" UNSAFE.md || { echo "error: $file is not in UNSAFE.md"; bad=1; }
    done < <(grep -rlE 'unsafe (\{|fn|impl|extern)' --include='*.rs' crates tests)
    return $bad
}

lints() {
    # What the tests are built with, and the program as a newcomer builds it.
    cargo clippy --workspace --all-targets --features $features -- -D warnings &&
        cargo clippy --package takt -- -D warnings
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps
}

dependencies() {
    cargo deny --log-level error check bans licenses sources
}

long_tests() {
    grep -e ' killed_lab /' -e ' coverage /' "$logs/binaries" | TAKT_LONG_TESTS=1 binary_limit_s=1800 run_binaries 2 2
}

# The engine that needs DPDK to be built: no other part has it. Namespaces and cables are each test's own.
dpdk() {
    if ! present libdpdk && [ "${CI:-}" != true ]; then
        echo "libdpdk-dev is not installed"
        return 0
    fi
    cargo clippy --package takt-packet --package takt-load --all-targets --features takt-load/dpdk -- -D warnings &&
        cargo clippy --package takt --features dpdk -- -D warnings &&
        cargo test --package takt-packet --features dpdk --lib --test '*' --no-fail-fast &&
        cargo test --package takt-load --features dpdk --test dpdk
}

models() {
    RUSTFLAGS="--cfg loom" cargo test --release --target-dir target/loom --package takt-link
}

# On a processor of another kind, emulated: all of takt compiles for it, and what rests on instructions, the order of memory or the
# layout of values is there what it is here. The engine dpdk is left out: its library is this machine's.
aarch64() (
    for_aarch64
    export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu"
    cross=(--target $aarch64)
    cargo check "${cross[@]}" --workspace --all-targets --features $features || return 1
    # An emulator of one program executes what that program starts as this machine's: left out by name is what starts itself
    # again, in a file system of its own or to be killed. All tests, and what they start: ./test --aarch64.
    cargo test "${cross[@]}" --no-fail-fast --lib --test '*' \
        --package takt-base --package takt-wire --package takt-dsp --package takt-link \
        --package takt-graph -- --skip a_full_disk --skip a_writer_killed || return 1
    # Of the runtime those that start nothing, count no system calls (strace) and build no library.
    cargo test "${cross[@]}" --no-fail-fast --package takt-runtime --lib --test messages --test soft || return 1
    # The environment of that name, with this takt in it, and a cluster of both kinds of processor.
    cargo build "${cross[@]}" --package takt --features $features && grep ' aarch64 /' "$logs/binaries" | run_binaries 1 1
)
