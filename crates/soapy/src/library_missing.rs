//! SoapySDR in a program that was built without it.

use crate::{Device, DeviceSpec, FoundDevice, SoapyError};

pub(crate) fn open(_: &DeviceSpec) -> Result<Box<dyn Device>, SoapyError> {
    Err(SoapyError::NotBuilt)
}

pub(crate) fn find(_: &DeviceSpec) -> Result<Vec<FoundDevice>, SoapyError> {
    Err(SoapyError::NotBuilt)
}
