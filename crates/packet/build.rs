//! Compiles the shim of engine `dpdk`, where that is requested; without the feature there is nothing to do.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    #[cfg(feature = "dpdk")]
    shim();
}

#[cfg(feature = "dpdk")]
fn shim() {
    println!("cargo:rerun-if-changed=src/dpdk/shim.c");
    let found = pkg_config::Config::new().atleast_version("21.11").probe("libdpdk");
    let dpdk = match found {
        Ok(dpdk) => dpdk,
        Err(error) => {
            error.to_string().lines().for_each(|line| println!("cargo::warning={line}"));
            println!("cargo::error=feature dpdk: DPDK 21.11 or newer is not installed");
            println!("cargo::error=  fix   apt-get install libdpdk-dev pkg-config");
            return;
        }
    };
    let mut build = cc::Build::new();
    build.file("src/dpdk/shim.c").includes(dpdk.include_paths).warnings(true).extra_warnings(true);
    // DPDK's headers are written for a processor with these instructions, and pass unused parameters.
    build.flag_if_supported("-Wno-unused-parameter");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        build.flag("-march=corei7");
    }
    build.compile("takt_dpdk_shim");
}
