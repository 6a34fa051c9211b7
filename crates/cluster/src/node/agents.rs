//! Agents of the lab on this node: takt itself, as children of it, on cores that an order was granted.
//!
//! Messages of the lab to one, and of one to the lab, pass in chunks of bounded size. The queue on either side is
//! bounded too. An agent whose lab sends nothing for a lease ends: first its input, and if it goes on, by force.

use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use takt_host::ending;

use super::place::Refusal;
use crate::message::{AGENT_LEASE, AgentFacts, AgentOutput, MOST_AGENT_BYTES};
use crate::tenant::Tenant;

/// How long a message waits for something that the agent writes.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long an agent may take to end once its input has.
const FAREWELL: Duration = Duration::from_secs(4);

/// Longest time between two looks, as far as the lease goes: a node that stood still has received nothing either.
const LONGEST_LOOK: Duration = Duration::from_secs(1);

/// Messages that wait for an agent to read them.
const MOST_WAITING: usize = 16;

/// Bytes of an agent that wait for its lab.
const MOST_WAITING_BYTES: usize = 4 * MOST_AGENT_BYTES;

/// Share of the node that an agent may have.
pub(super) struct Granted {
    pub(super) cores: Vec<u32>,
    /// Memory, MiB; `None`: its tenant has no quota of it.
    pub(super) memory_mib: Option<u32>,
}

/// An agent.
pub(super) struct Agent {
    tenant: Tenant,
    number: u64,
    cores: Vec<u32>,
    memory_mib: Option<u32>,
    child: Child,
    input: Option<SyncSender<Vec<u8>>>,
    output: Arc<Output>,
    /// Since the last message of its lab.
    silent: Duration,
    /// Since its input ended, or it did.
    ending: Option<Duration>,
    ended: Option<String>,
    /// Its lab knows that it has ended.
    is_known: bool,
}

impl Agent {
    /// Starts `program` as an agent. The thread that calls this has to outlive it: the kernel ends it with that one.
    pub(super) fn start(program: &Path, tenant: Tenant, number: u64, granted: Granted) -> io::Result<Agent> {
        let Granted { cores, memory_mib } = granted;
        let list: Vec<String> = cores.iter().map(ToString::to_string).collect();
        let mut command = Command::new(program);
        command.args(["agent", "--lent", "--cores", &list.join(",")]).stdin(Stdio::piped()).stdout(Stdio::piped());
        if let Some(mib) = memory_mib {
            command.args(["--memory", &mib.to_string()]);
        }
        // Ctrl-C is for the node, which then ends it.
        let mut child = command.process_group(0).spawn()?;
        let (to, from) = child.stdin.take().zip(child.stdout.take()).ok_or(io::ErrorKind::BrokenPipe)?;
        let (input, chunks) = mpsc::sync_channel(MOST_WAITING);
        let output = Arc::new(Output::default());
        let into = Arc::clone(&output);
        thread::spawn(move || write(to, &chunks));
        thread::spawn(move || into.fill(from));
        let (input, silent) = (Some(input), Duration::ZERO);
        let (ending, ended, is_known) = (None, None, false);
        Ok(Agent { tenant, number, cores, memory_mib, child, input, output, silent, ending, ended, is_known })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// The cores that it has; none once it has ended.
    pub(super) fn cores(&self) -> &[u32] {
        if self.ended.is_some() { &[] } else { &self.cores }
    }

    /// MiB that it has of its tenant's quota; none once it has ended.
    pub(super) fn memory_mib(&self) -> u32 {
        if self.ended.is_some() { 0 } else { self.memory_mib.unwrap_or(0) }
    }

    pub(super) fn facts(&self) -> AgentFacts {
        AgentFacts { tenant: self.tenant.clone(), cores: self.cores().to_vec() }
    }

    /// Takes what its lab writes.
    pub(super) fn take(&mut self, input: &str, end: bool) -> Result<(), Refusal> {
        self.silent = Duration::ZERO;
        let bytes = STANDARD.decode(input).map_err(|error| Refusal::new(error, "send the input as base64"))?;
        // One that has ended takes nothing: the answer has it.
        if let Some(to) = self.input.as_ref().filter(|_| !bytes.is_empty() && self.ended.is_none()) {
            let full = |_| Refusal::new("the agent does not read what its lab writes", "wait for its replies");
            to.try_send(bytes).map_err(full)?;
        }
        if end {
            self.end();
        }
        Ok(())
    }

    /// The answer to a message of its lab that has waited so long: what the agent has written; `None`: nothing yet.
    pub(super) fn answer(&mut self, waited: Duration) -> Option<AgentOutput> {
        let bytes = self.output.take();
        if bytes.is_empty() {
            let is_over = self.output.is_closed() || self.ending > Some(FAREWELL);
            let ended = self.ended.clone().filter(|_| is_over);
            self.is_known |= ended.is_some();
            return (ended.is_some() || waited >= PATIENCE).then(|| AgentOutput { ended, ..AgentOutput::default() });
        }
        Some(AgentOutput { output: STANDARD.encode(bytes), ended: None })
    }

    /// Looks after it; whether it is over and can be forgotten. `passed`: since the last look.
    pub(super) fn attend(&mut self, passed: Duration) -> bool {
        let passed = passed.min(LONGEST_LOOK);
        self.silent += passed;
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(how(status, self.memory_mib));
            self.ending.get_or_insert_default();
        }
        if self.silent > AGENT_LEASE {
            self.end();
        }
        let ending = self.ending.as_mut().map(|since| {
            *since += passed;
            *since
        });
        if self.ended.is_none() && ending > Some(FAREWELL) {
            // It ends before the next look, or the one after that.
            let _ = ending::kill(&mut self.child);
        }
        self.ended.is_some() && (self.is_known || self.silent > AGENT_LEASE)
    }

    /// Ends its input: it ends by itself then.
    fn end(&mut self) {
        self.input = None;
        self.ending.get_or_insert_default();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.ended.is_none() {
            let _ended_already = ending::kill(&mut self.child);
            let _ = self.child.wait();
        }
        self.output.abandon();
    }
}

/// How it has ended. A program that gets no more memory ends itself by SIGABRT.
fn how(status: ExitStatus, memory_mib: Option<u32>) -> String {
    match memory_mib.filter(|_| status.signal() == Some(SIGABRT)) {
        Some(mib) => format!("{status}: it may have {mib} MiB here, and ends where it wants more"),
        None => status.to_string(),
    }
}

const SIGABRT: i32 = rustix::process::Signal::ABORT.as_raw();

/// Writes chunks until there are no more, or nobody reads them.
fn write(mut to: impl Write, chunks: &Receiver<Vec<u8>>) {
    for chunk in chunks {
        if to.write_all(&chunk).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

/// Output of an agent, until its lab takes it.
#[derive(Default)]
struct Output {
    state: Mutex<Written>,
    taken: Condvar,
}

#[derive(Default)]
struct Written {
    bytes: Vec<u8>,
    /// Nothing more comes.
    closed: bool,
    /// Nobody takes it any more.
    abandoned: bool,
}

impl Output {
    fn state(&self) -> MutexGuard<'_, Written> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads to the end; waits while too much has not been taken.
    fn fill(&self, mut from: impl Read) {
        let mut chunk = vec![0; 64 << 10];
        while let Ok(got @ 1..) = from.read(&mut chunk) {
            let full = |written: &mut Written| written.bytes.len() >= MOST_WAITING_BYTES && !written.abandoned;
            let mut written = self.taken.wait_while(self.state(), full).unwrap_or_else(PoisonError::into_inner);
            if written.abandoned {
                return;
            }
            written.bytes.extend_from_slice(chunk.get(..got).unwrap_or_default());
        }
        self.state().closed = true;
    }

    fn take(&self) -> Vec<u8> {
        let mut written = self.state();
        let most = written.bytes.len().min(MOST_AGENT_BYTES);
        let taken = written.bytes.drain(..most).collect();
        self.taken.notify_one();
        taken
    }

    fn is_closed(&self) -> bool {
        self.state().closed
    }

    fn abandon(&self) {
        self.state().abandoned = true;
        self.taken.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use takt_testing::wait_for;

    use super::*;

    /// A program that takes an agent's arguments and does something else.
    fn agent(script: &str) -> (tempfile::TempDir, Agent) {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        std::fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let granted = Granted { cores: vec![3], memory_mib: Some(100) };
        let agent = Agent::start(&program, Tenant::operator(), 7, granted).unwrap();
        (folder, agent)
    }

    fn text(output: &AgentOutput) -> String {
        String::from_utf8(STANDARD.decode(&output.output).unwrap()).unwrap()
    }

    #[test]
    fn what_is_written_comes_back_and_the_end_after_all_of_it() {
        let (_folder, mut cat) = agent("exec cat");
        assert_eq!(cat.answer(Duration::ZERO), None);
        assert_eq!(cat.answer(PATIENCE), Some(AgentOutput::default()), "a message does not wait for ever");
        cat.take(&STANDARD.encode("word\n"), false).unwrap();
        let read = wait_for("what it wrote", || cat.answer(Duration::ZERO));
        assert_eq!((text(&read).as_str(), read.ended), ("word\n", None));
        assert!(!cat.attend(Duration::ZERO) && cat.cores() == [3]);
        cat.take("", true).unwrap();
        let last = wait_for("its end", || {
            assert!(!cat.attend(Duration::ZERO), "its lab does not know yet");
            cat.answer(Duration::ZERO)
        });
        assert_eq!(last.ended.as_deref(), Some("exit status: 0"));
        assert!(cat.attend(Duration::ZERO) && cat.cores().is_empty());
    }

    #[test]
    fn an_agent_is_told_what_it_may_have_and_what_ended_it_says_so() {
        let (_folder, mut program) = agent("echo $@; kill -ABRT $$");
        let said = wait_for("its arguments", || program.answer(Duration::ZERO));
        assert_eq!(text(&said), "agent --lent --cores 3 --memory 100\n");
        assert_eq!(program.memory_mib(), 100);
        let last = wait_for("its end", || {
            program.attend(Duration::ZERO);
            program.answer(Duration::ZERO)
        });
        let how = last.ended.unwrap();
        assert!(how.contains("it may have 100 MiB here, and ends where it wants more"), "{how}");
        assert_eq!(program.memory_mib(), 0, "its tenant has it back");
    }

    #[test]
    fn an_agent_ends_a_lease_after_the_last_message_of_its_lab() {
        let (_folder, mut cat) = agent("exec cat");
        for _ in 0..10 {
            assert!(!cat.attend(Duration::from_secs(60)), "a node that stood still counts one second");
        }
        cat.take("", false).unwrap();
        (0..10).for_each(|_| assert!(!cat.attend(LONGEST_LOOK)));
        assert!(cat.ending.is_none(), "a message came");
        cat.attend(LONGEST_LOOK);
        wait_for("its end", || cat.attend(Duration::ZERO).then_some(()));
    }

    #[test]
    fn one_that_does_not_heed_the_end_of_its_input_is_ended_by_force() {
        let (_folder, mut stubborn) = agent("while :; do sleep 0.01; done");
        stubborn.take("", true).unwrap();
        (0..5).for_each(|_| _ = stubborn.attend(LONGEST_LOOK));
        let last = wait_for("its end", || {
            stubborn.attend(Duration::ZERO);
            stubborn.answer(Duration::ZERO)
        });
        assert!(last.ended.is_some_and(|how| how.contains("signal: 9")));
    }

    #[test]
    fn what_waits_is_bounded_both_ways() {
        let (_folder, mut stubborn) = agent("exec sleep 1000");
        let chunk = STANDARD.encode(vec![b'x'; MOST_AGENT_BYTES]);
        let refused = (0..100).find_map(|_| stubborn.take(&chunk, false).err()).expect("it is full");
        assert!(refused.why.contains("does not read"), "{}", refused.why);
        let (_other, mut loud) = agent("exec yes");
        let waits = |loud: &Agent| loud.output.state().bytes.len();
        wait_for("a full buffer", || (waits(&loud) >= MOST_WAITING_BYTES).then_some(()));
        assert!(waits(&loud) <= MOST_WAITING_BYTES + (64 << 10));
        let read = loud.answer(Duration::ZERO).unwrap();
        assert_eq!(text(&read).len(), MOST_AGENT_BYTES);
    }
}
