//! Executor of a guest: the processor, if KVM really works here.
//!
//! A device node proves nothing: there are machines where `/dev/kvm` opens, makes a machine, and a guest's kernel then
//! stands still. So a guest is booted, once a boot of this machine, and the outcome kept beside the run records.

use std::fs::File;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_host::dirs::run_dir;
use takt_host::trusted::{Trust, TrustError, TrustedDir};

use super::super::EnvironmentError;
use super::kernel::Kernel;
use super::qemu::Qemu;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "accelerator", rename_all = "snake_case")]
pub(super) enum Accelerator {
    Kvm,
    Tcg { why: String },
}

impl Accelerator {
    pub(super) fn name(&self) -> &'static str {
        match self {
            Accelerator::Kvm => "kvm",
            Accelerator::Tcg { .. } => "tcg",
        }
    }

    pub(super) fn why_not(&self) -> Option<&str> {
        match self {
            Accelerator::Kvm => None,
            Accelerator::Tcg { why } => Some(why),
        }
    }
}

/// An accelerated guest is up in a second or two; one that is not by now will not be.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);
const DEVICE: &str = "/dev/kvm";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Finding {
    qemu: String,
    kernel: String,
    found: Accelerator,
}

/// The finding of this boot, or a new one.
pub(super) fn find(
    qemu: &Qemu,
    kernel: &Kernel,
    boot: impl FnOnce() -> Result<(), EnvironmentError>,
) -> Result<Accelerator, EnvironmentError> {
    // Not part of the finding: permissions differ between users and change.
    if let Err(error) = File::options().read(true).write(true).open(DEVICE) {
        return Ok(Accelerator::Tcg { why: format!("{DEVICE}: {error}") });
    }
    let (qemu, kernel) = (qemu.title(), kernel.release.clone());
    if let Some(finding) = recall()?
        && (&finding.qemu, &finding.kernel) == (&qemu, &kernel)
    {
        return Ok(finding.found);
    }
    let found = match boot() {
        Ok(()) => Accelerator::Kvm,
        Err(EnvironmentError::Inside { output, source, .. }) => {
            Accelerator::Tcg { why: why(&output, &source.to_string()) }
        }
        Err(other) => return Err(other),
    };
    let finding = Finding { qemu, kernel, found };
    if let Err(error) = keep(&finding) {
        tracing::warn!("the next virtual machine finds out anew whether KVM boots one: {error}");
    }
    Ok(finding.found)
}

fn why(output: &str, became: &str) -> String {
    let last = output.lines().last().unwrap_or_default();
    format!("{DEVICE} is there, but a guest does not boot with it ({became}; its last output: {last})")
}

/// In the folder of run records, which does not outlive a boot.
const FILE: &str = "accelerator.json";

fn keep(finding: &Finding) -> Result<(), TrustError> {
    let text = serde_json::to_vec(finding).unwrap_or_default();
    TrustedDir::make(&run_dir(), Trust::Own)?.replace(FILE, &text)
}

fn recall() -> Result<Option<Finding>, TrustError> {
    let Some(dir) = TrustedDir::find(&run_dir(), Trust::Own)? else { return Ok(None) };
    // A file that can't be understood is as good as none.
    Ok(dir.read(FILE)?.and_then(|text| serde_json::from_slice(&text).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_read_back_as_it_was_written() {
        for found in [Accelerator::Kvm, Accelerator::Tcg { why: why("a\nb", "silent") }] {
            let finding = Finding { qemu: "QEMU 7.2".into(), kernel: "6.1".into(), found };
            let text = serde_json::to_vec(&finding).unwrap();
            assert_eq!(serde_json::from_slice::<Finding>(&text).unwrap(), finding);
        }
        assert!(why("a\nb", "silent").ends_with("its last output: b)"));
    }
}
