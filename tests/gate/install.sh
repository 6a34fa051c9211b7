# Programs and packages that the tests need, from Debian and PyPI, where this user may install. Sourced by ./test.

# program:package, one line a need; program:package:turns if only parts of these turns need it
needs='cc:gcc
python3:python3
venv:python3-venv
objdump:binutils
ip:iproute2
ethtool:ethtool
iperf3:iperf3
tshark:tshark
tcpdump:tcpdump
chromium:chromium:2
ptp4l:linuxptp
ping:iputils-ping
strace:strace
tmux:tmux
font:fonts-dejavu-core
valgrind:valgrind
systemd-analyze:systemd
setpriv:util-linux
unshare:util-linux
runc:runc
podman:podman
cpio:cpio
xz:xz-utils
zstd:zstd
pkg-config:pkg-config
libdpdk:libdpdk-dev
libsoapysdr:libsoapysdr-dev
mmdebstrap:mmdebstrap:14
lintian:lintian:4
qemu-system-x86_64:qemu-system-x86
aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu:1
aarch64-libc:libc6-dev-arm64-cross:1
qemu-aarch64:qemu-user:1
uhd_find_devices:uhd-host
uhd_rx_cfile:gnuradio
SoapySDRUtil:soapysdr-tools
soapy-uhd:soapysdr0.8-module-uhd
soapy-python:python3-soapysdr:3
c++:g++:3
uhd-module:python3-uhd'
# Independent readers of SigMF, Parquet, JSON Schema, Kubernetes' manifests, OTLP and Prometheus's metrics, and stock Zenoh, in a folder of their own.
readers='sigmf pyarrow jsonschema kubernetes-validate eclipse-zenoh opentelemetry-proto prometheus-client'
python=target/peers/python
kernel=target/vm-kernel
desktop=target/desktop.cpio.zst

present() {
    case $1 in
        soapy-uhd) compgen -G '/usr/lib/*/SoapySDR/modules*/libuhdSupport.so' >/dev/null ;; # a library, not a program
        soapy-python) [ -e /usr/lib/python3/dist-packages/SoapySDR.py ] ;; # for Debian's own Python
        font) compgen -G '/usr/share/fonts/*/*/*.[to]tf' >/dev/null ;; # of figures as PNG
        uhd-module) [ -d /usr/lib/python3/dist-packages/uhd ] ;; # for Debian's own Python
        aarch64-libc) [ -e /usr/aarch64-linux-gnu/include/stdint.h ] ;;
        libdpdk) pkg-config --exists libdpdk 2>/dev/null ;;
        libsoapysdr) pkg-config --exists SoapySDR 2>/dev/null ;;
        venv) python3 -c 'import ensurepip, venv' 2>/dev/null ;;
        *) command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ] || [ -x "/sbin/$1" ] ;;
    esac
}

# Those of this turn; of all turns where none was chosen.
missing_packages() {
    local program package of
    while IFS=: read -r program package of; do
        [[ ${turn:-every} != every && -n $of && $of != *"$turn"* ]] || present "$program" || echo "$package"
    done <<<"$needs" | sort -u
}

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

may_install() {
    command -v apt-get && { [ "$(id -u)" = 0 ] || sudo -n true; }
} >/dev/null 2>&1

install_packages() {
    local missing
    missing=$(missing_packages)
    [ -n "$missing" ] && may_install || return 0
    as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q
    # shellcheck disable=SC2086 # one word a package
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

install_readers() {
    "$python/bin/python3" -c 'import sigmf, pyarrow, jsonschema, kubernetes_validate, zenoh, opentelemetry.proto, prometheus_client' 2>/dev/null && return 0
    command -v python3 || return 0
    # shellcheck disable=SC2086 # one word a package
    python3 -m venv "$python" && "$python/bin/pip" install -q $readers || rm -rf "$python"
}

# A kernel for guests, unpacked and not installed: the boot loader never sees it.
install_guest_kernel() {
    compgen -G "$kernel/boot/vmlinuz-*" || compgen -G '/boot/vmlinuz-*' && return 0
    command -v apt-get || return 0
    local package
    package=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p')
    mkdir -p "$kernel"
    [ -n "$package" ] && (cd "$kernel" && apt-get download -q "$package" && dpkg-deb -x ./*.deb . && rm ./*.deb) || rm -rf "$kernel"
}

install_needs() {
    install_packages
    install_readers
    install_guest_kernel
}

# A Debian with systemd for a guest: only the whole run boots it.
install_desktop() {
    [ -s $desktop ] || tests/desktop/image.sh $desktop
}

# Licences need cargo-deny; fuzzing a nightly compiler and cargo-fuzz. Both tools are built without optimisation: each runs for seconds,
# and takes minutes to optimise.
install_deny() {
    command -v cargo-deny || cargo install --debug --locked cargo-deny
}

install_fuzzing() {
    cargo +nightly fuzz --version || {
        rustup toolchain install nightly --profile minimal
        cargo install --debug --locked cargo-fuzz
    }
}

# The program is compiled while Debian's packages come over the network, in turns that need it. A linker has to be there first. If the
# program does not compile, its own part says so.
install_all() {
    local rust status=0
    command -v cc || install_packages
    { rustup component add rustfmt clippy && { ! builds_program || cargo build --release || true; }; } &
    rust=$!
    install_needs || status=$?
    wait $rust || status=$?
    return $status
}

# Says aloud what is still missing: the tests that need it are skipped.
say_what_is_missing() {
    local package
    for package in $(missing_packages); do
        echo "== not installed, its tests are skipped: $package   (sudo apt-get install $package)"
    done
    [ -x "$python/bin/python3" ] || echo "== not installed, their tests are skipped: the Python packages $readers"
    compgen -G "$kernel/boot/vmlinuz-*" >/dev/null || compgen -G '/boot/vmlinuz-*' >/dev/null ||
        echo "== no kernel for virtual machines, their tests are skipped   (linux-image-cloud-amd64)"
}
