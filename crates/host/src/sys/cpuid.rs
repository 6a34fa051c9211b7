//! The hypervisor leaf of CPUID. Safe from Rust 1.94 on; the block goes when the oldest supported compiler is newer.
#![allow(unsafe_code, unused_unsafe)]

/// The twelve bytes a hypervisor identifies itself with, `KVMKVMKVM` for one; `None` on bare metal and on processors
/// without CPUID.
#[cfg(target_arch = "x86_64")]
pub(crate) fn hypervisor_signature() -> Option<String> {
    use core::arch::x86_64::__cpuid;
    const HYPERVISOR_PRESENT: u32 = 1 << 31; // leaf 1, ecx
    // SAFETY: every x86-64 processor has the CPUID instruction; it reads no memory and changes only the registers that
    // the intrinsic declares.
    let (features, leaf) = unsafe { (__cpuid(1), __cpuid(0x4000_0000)) };
    if features.ecx & HYPERVISOR_PRESENT == 0 {
        return None;
    }
    let bytes = [leaf.ebx, leaf.ecx, leaf.edx].map(u32::to_le_bytes).concat();
    Some(String::from_utf8_lossy(&bytes).trim_matches(['\0', ' ']).to_owned())
}

/// Other processors have no such leaf.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) fn hypervisor_signature() -> Option<String> {
    None
}
