//! Places waveforms on nodes and watches over them. A manager keeps nothing that the nodes do not know as well.

mod platform;
mod run;
mod takeover;

use std::sync::Arc;
use std::time::Duration;

pub use platform::platform;
pub use run::{Ended, NodeEnd, RunOptions, Watch};
pub use takeover::{Loss, Replace};

use crate::ClusterError;
use crate::control::Control;
use crate::folder::Folder;
use crate::message::{NodeFacts, Request};

/// How long a node may take for an answer that needs no work.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long nodes are looked for before the cluster is taken to be empty.
const LOOKING: u32 = 4;

/// One who asks nodes.
pub struct Manager {
    pub(crate) control: Arc<Control>,
}

impl Manager {
    /// Joins the cluster of a folder.
    ///
    /// # Errors
    /// The folder is not complete, or Zenoh refuses.
    pub fn open(folder: &Folder) -> Result<Manager, ClusterError> {
        Ok(Manager { control: Arc::new(Control::open(folder, false)?) })
    }

    /// All nodes that answer, by name.
    ///
    /// # Errors
    /// None does.
    pub fn nodes(&self) -> Result<Vec<NodeFacts>, ClusterError> {
        for _ in 0..LOOKING {
            let names = self.control.present()?;
            let facts = |name: &String| self.control.ask(name, &Request::Describe, PATIENCE);
            let nodes: Vec<NodeFacts> = names.iter().map(facts).collect::<Result<_, _>>()?;
            if !nodes.is_empty() {
                return Ok(nodes);
            }
            std::thread::sleep(Duration::from_millis(300));
        }
        Err(ClusterError::Alone { cluster: self.control.cluster().to_owned() })
    }
}
