# Further checks that a change must pass, a function each. Sourced by ./test.

style() {
    # A part goes on after a command that fails: each failure is noted.
    local file bad=0
    cargo fmt --all --check || bad=1
    # Each file with unsafe code has its row in UNSAFE.md.
    while read -r file; do
        grep -qF -e "${file##*/src/}" -e "$file" UNSAFE.md || { echo "error: $file is not in UNSAFE.md"; bad=1; }
    done < <(grep -rlE 'unsafe (\{|fn|impl|extern)' --include='*.rs' crates tests)
    tests/gate/try || bad=1
    # Modules of these crates don't use each other in circles.
    tests/gate/circles --try && tests/gate/circles crates/{cli,cluster,emulator,host,mapper,packet} || bad=1
    return $bad
}

# All features: engine dpdk and SoapySDR where their libraries are. Lints and documentation share what they check of dependencies.
all_features() {
    echo "$features$(! has libdpdk || echo ,takt/dpdk,takt-load/dpdk)$(! has libsoapysdr || echo ,takt/soapy)"
}

# Everything; the tests of dpdk's crate also without dpdk. The program as a newcomer builds it: see `program`.
lints() {
    cargo clippy --workspace --all-targets --features "$(all_features)" -- -D warnings || return 1
    ! has libdpdk || cargo clippy --package takt-packet --all-targets -- -D warnings
}

# The program as a newcomer builds it, without a warning of the compiler. Clippy sees it with all features: to check it with these
# would compile its dependencies once more. cargo repeats warnings of what is built already.
program() {
    local said
    said=$(cargo build --release 2>&1) || { printf '%s\n' "$said"; return 1; }
    printf '%s\n' "$said"
    ! grep '^warning' <<<"$said"
}

documentation() {
    RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --features "$(all_features)"
}

# The documentation as a site, and each of its links.
site() {
    docs/build
}

dependencies() {
    cargo deny --log-level error check bans licenses sources
}

# Whether an advisory is open for a crate of Cargo.lock. The database is fetched, as new as it is: where that can't be done nobody
# was asked, and the summary says so. That is no failure, since the repository is as good as before.
advisories() {
    local said
    if ! said=$(timeout 60 cargo deny --log-level error fetch db 2>&1); then
        printf '%s\n' "$said"
        echo "NOT ASKED   advisories of dependencies: the database of RustSec can't be fetched here   (cargo deny check advisories, where it can)" |
            tee -a "$TAKT_TEST_RECORD"
        return 0
    fi
    cargo deny --log-level error check --disable-fetch advisories
}

long_tests() {
    grep -e ' killed_lab /' -e ' coverage /' "$logs/binaries" | TAKT_LONG_TESTS=1 binary_limit_s=1800 run_binaries 2 2
}

# has LIBRARY: in CI it has to be there, since a part that needs it fails without it.
has() {
    [ "${CI:-}" = true ] || present "$1"
}

# The engine that needs DPDK to be built: of the tests, only these have it. Namespaces and cables are each test's own. The radio's
# test is built as one of the workspace: what it shares with the other tests is built already.
dpdk() {
    if ! has libdpdk; then
        echo "libdpdk-dev is not installed"
        return 0
    fi
    cargo test --package takt-packet --features dpdk --lib --test '*' --no-fail-fast &&
        cargo test --workspace --exclude takt-packet --features $features,takt-load/dpdk --test dpdk
}

# Both ways between takt and SoapySDR: takt with SoapySDR in it, and its UHD module against the software radios, then SoapySDR's
# programs with takt's module. Only these have it.
soapy() {
    if ! has libsoapysdr; then
        echo "libsoapysdr-dev is not installed"
        return 0
    fi
    # That of the tests: on its own the crate has other features of its dependencies, which would all be compiled anew.
    local library
    library=$(grep -o '"[^"]*/libtakt_soapy_module[^"/]*\.a"' "$logs/binaries.json" | tail -n 1 | tr -d '"')
    cargo test --workspace --features $features,takt/soapy --test soapy &&
        packaging/soapy/build --library "$library" &&
        TAKT=$PWD/target/debug/takt packaging/soapy/try --built
}

# The live page in a headless Chromium, one a test.
live_page() {
    grep '/serve browser /' "$logs/binaries" | run_binaries 1 2
}

# A wheel, in an environment of its own, and programs that use UHD and GNU Radio before its radios.
python_package() {
    crates/python/test -rs
}

# For this machine's processor. packaging/try also makes those for 64-bit ARM, and compares two builds.
packages() {
    packaging/try static package container
}

models() {
    RUSTFLAGS="--cfg loom" cargo test --release --target-dir target/loom --package takt-link
}

# On a processor of another kind, emulated: all of takt compiles for it, and what rests on instructions, the order of memory or the
# layout of values is there what it is here. The engine dpdk is left out: its library is this machine's.
aarch64() (
    for_aarch64
    cargo check --target $aarch64 --workspace --all-targets --features $features || return 1
    build_few "$logs/binaries.few" || return 1
    bad=0
    few_of <"$logs/binaries.few" | binary_limit_s=$long_limit_s QEMU_LD_PREFIX=/usr/aarch64-linux-gnu runner=qemu-aarch64 \
        run_binaries "$beside" 4 || bad=1
    # The environment of that name, with this takt in it, and a cluster of both kinds of processor.
    grep ' aarch64 /' "$logs/binaries" | run_binaries 1 1 || bad=1
    return $bad
)

# Builds all tests of these crates, two of the runtime's, and takt, which the test `aarch64` starts. Three builds would each choose
# other features of their dependencies, and compile them anew. So the runtime's target `together` is built, and not executed: its name
# is that of others.
build_few() {
    local crate file named=(--test messages --test soft --test aarch64)
    for crate in "${few[@]}"; do
        for file in crates/"$crate"/tests/*.rs crates/"$crate"/tests/*/main.rs; do
            [ -e "$file" ] || continue
            file=${file%/main.rs}
            named+=(--test "$(basename "$file" .rs)")
        done
    done
    build_tests "$1" --target $aarch64 "${few[@]/#/--package=takt-}" --package takt-runtime --package takt --lib "${named[@]}"
}
few=(base wire dsp link graph)

# Chooses from lines of `binaries` those that are executed. An emulator of one program executes what that program starts as this
# machine's: left out by name is what starts itself again, in a file system of its own or to be killed. The runtime's are those that
# start nothing and count no system calls (strace). All tests, and what they start: ./test --aarch64.
few_of() {
    awk -v few=" ${few[*]} " '{ crate = $1; sub(".*/", "", crate) }
        index(few, " " crate " ") || crate == "runtime" && $2 ~ /^(takt_runtime|messages|soft)$/ {
            print $0, "--skip a_full_disk --skip a_writer_killed" }'
}
