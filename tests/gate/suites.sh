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
    cargo clippy --package takt-packet --all-targets --features dpdk -- -D warnings &&
        cargo clippy --package takt --features dpdk -- -D warnings &&
        cargo test --package takt-packet --features dpdk --lib --test '*' --no-fail-fast
}

models() {
    RUSTFLAGS="--cfg loom" cargo test --release --target-dir target/loom --package takt-link
}

# What depends on a processor's instructions, on one of the other kind: samples and bits are what they are here. Left out is
# what starts programs of its own, which an emulator of one program can't.
aarch64() {
    CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
        CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER="qemu-aarch64 -L /usr/aarch64-linux-gnu" \
        cargo test --target aarch64-unknown-linux-gnu --package takt-wire --package takt-dsp --lib --test '*' -- \
        --skip a_full_disk --skip a_writer_killed
}
