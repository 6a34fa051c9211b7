//! A change of plan, or of the whole waveform, at a slot edge: no logical slot is lost or doubled, no packet between
//! components is lost, nothing is allocated.
//!
//! At the edge of physical slot K every worker gives its table away. The first worker, when it has them all, moves each
//! component with its statistics and each packet still in flight into the new tables, which were built beforehand, and gives
//! them out. Each worker then executes of its own components what the new plan would have executed before K and the old one
//! had not (those whose depth shrinks), with the packets of the others as they come ([`Worker`](super::Worker)). A component
//! whose depth grows is ahead, and idles as many slots. On a clock none goes on with slot K before all have caught up: there
//! nobody waits for a packet, and one that is still being made would count as lost.
//!
//! Another waveform takes over at logical slot K: all components first finish their slots before K, those that both
//! waveforms have (same name, type, parameters and packets) keep their state, new ones begin with slot K, and links that
//! were not there before begin empty.
//!
//! A worker that ends, or is stopped, first takes part in every change it was sent, so that none waits for it in vain. Once
//! they are to stop, tables are exchanged and nothing is executed any more: others may have taken over.
//! Tables travel by ownership through queues of one place: whatever has a table is alone with it.

use rtrb::{Consumer, Producer, RingBuffer};
use takt_base::Stop;
use takt_graph::PortId;
use takt_link::ring::Writer;

use crate::port::{Cell, OutPort, Source};
use crate::report::Outcome;
use crate::slot::{Patience, Timer};
use crate::table::{CaughtUp, Due, Entry, Table};

/// One worker's part.
pub(crate) struct Change {
    pub(crate) at: u64,
    give: Option<Producer<Given>>,
    take: Option<Consumer<Given>>,
    mover: Option<Mover>,
    broken: Stop,
    spins: u32,
}

/// A table on its way, and the physical slot its worker would execute next.
struct Given {
    table: Table,
    number: u64,
}

/// State that only the first worker has.
struct Mover {
    from: Vec<Consumer<Given>>,
    to: Vec<Producer<Given>>,
    new: Vec<Option<Table>>,
    old: Vec<Given>,
    timer: Timer,
    /// Another waveform: what the old one has begun is finished first.
    whole: bool,
    /// The components of the new tables, in order.
    stays: Vec<usize>,
}

/// The parts of all workers, for a change at the edge of slot `at` into the tables `new`. `broken`: a worker died by a
/// mistake of ours, and none may wait for it. `spins`: looks before a worker that waits lets other threads run.
pub(crate) fn changes(at: u64, new: Vec<Table>, whole: bool, timer: &Timer, broken: &Stop, spins: u32) -> Vec<Change> {
    let (gives, from): (Vec<_>, Vec<_>) = new.iter().skip(1).map(|_| RingBuffer::new(1)).unzip();
    let (to, takes): (Vec<_>, Vec<_>) = new.iter().skip(1).map(|_| RingBuffer::new(1)).unzip();
    let old = Vec::with_capacity(new.len());
    let mut stays: Vec<usize> = new.iter().flat_map(|table| &table.entries).map(|entry| entry.id).collect();
    stays.sort_unstable();
    let caught_up = CaughtUp::none_of(new.len());
    let new =
        new.into_iter().zip(caught_up).map(|(table, own)| Some(Table { caught_up: Some(own), ..table })).collect();
    let mover = Mover { from, to, new, old, timer: timer.clone(), whole, stays };
    let part = |give, take, mover| Change { at, give, take, mover, broken: broken.clone(), spins };
    let others = gives.into_iter().zip(takes).map(|(give, take)| part(Some(give), Some(take), None));
    std::iter::once(part(None, None, Some(mover))).chain(others).collect()
}

impl Change {
    /// Outcome of components of the old waveform that the new one has not.
    pub(crate) fn left_behind(&self) -> Vec<Outcome> {
        let Some(mover) = self.mover.as_ref().filter(|mover| mover.whole) else { return Vec::new() };
        let entries = mover.old.iter().flat_map(|given| &given.table.entries);
        entries.filter(|entry| mover.stays.binary_search(&entry.id).is_err()).map(Outcome::of).collect()
    }

    /// Exchanges this worker's table. Answers the physical slot all go on with: the latest that any of them had come to.
    /// `None`: a worker died. `may_go_on`: asked before each physical slot that is left to execute. The rest in here is
    /// to be dropped outside real time.
    pub(crate) fn perform(&mut self, number: u64, table: &mut Table, may_go_on: &dyn Fn() -> bool) -> Option<u64> {
        let given = Given { table: std::mem::take(table), number };
        let got = match &mut self.mover {
            Some(mover) => mover.run(given, &self.broken, self.spins, may_go_on),
            None => {
                if let Some(give) = &mut self.give {
                    // A queue of one place for one table: there is room.
                    let _ = give.push(given);
                }
                self.take.as_mut().and_then(|take| wait_for(take, &self.broken, self.spins))
            }
        };
        let got = got?;
        *table = got.table;
        Some(got.number)
    }
}

fn wait_for(queue: &mut Consumer<Given>, broken: &Stop, spins: u32) -> Option<Given> {
    let mut patience = Patience::new(spins);
    loop {
        match queue.pop() {
            Ok(given) => return Some(given),
            Err(_) if broken.requested() => return None,
            Err(_) => patience.pause(),
        }
    }
}

impl Mover {
    fn run(&mut self, mine: Given, broken: &Stop, spins: u32, may_go_on: &dyn Fn() -> bool) -> Option<Given> {
        self.old.push(mine);
        for queue in &mut self.from {
            self.old.push(wait_for(queue, broken, spins)?);
        }
        let at = self.level(may_go_on);
        if self.whole {
            self.drain(at, may_go_on);
        }
        self.move_components(at);
        self.move_packets();
        self.new.iter_mut().flatten().for_each(Table::count_pending);
        for (queue, table) in self.to.iter_mut().zip(self.new.iter_mut().skip(1)) {
            if let Some(table) = table.take() {
                let _ = queue.push(Given { table, number: at });
            }
        }
        let table = self.new.first_mut().and_then(Option::take)?;
        Some(Given { table, number: at })
    }

    /// Executes what entries that are behind have left of the old plan, up to the slot the foremost has come to; answers
    /// that. All are at the same slot already, unless the change came too late for some, or in the middle of a burst.
    fn level(&mut self, may_go_on: &dyn Fn() -> bool) -> u64 {
        let at = self.old.iter().map(|given| given.number.max(given.table.reached)).max().unwrap_or(0);
        let first = self.old.iter().map(|given| given.number).min().unwrap_or(at);
        for physical in (first..at).take_while(|_| may_go_on()) {
            for given in self.old.iter_mut().filter(|given| given.number <= physical) {
                given.table.entries.iter_mut().for_each(|entry| step(entry, physical, &mut self.timer));
            }
        }
        at
    }

    /// Executes all that the old waveform has left of its logical slots before `at`.
    fn drain(&mut self, at: u64, may_go_on: &dyn Fn() -> bool) {
        let entries = || self.old.iter().flat_map(|given| &given.table.entries);
        // An isolated component hands over in the next slot.
        let last = entries().map(|entry| at + entry.depth + u64::from(entry.is_isolated())).max().unwrap_or(at);
        for physical in (at..last).take_while(|_| may_go_on()) {
            for entry in self.old.iter_mut().flat_map(|given| given.table.entries.iter_mut()) {
                entry.collect(physical, true);
                let Due::Slot { slot, missed } = entry.due(physical) else { continue };
                if missed > 0 {
                    entry.pass_by(slot.min(at));
                }
                if slot < at {
                    step(entry, physical, &mut self.timer);
                }
            }
        }
    }

    fn move_components(&mut self, at: u64) {
        for new in self.new.iter_mut().flatten().flat_map(|table| table.entries.iter_mut()) {
            let mut all = self.old.iter_mut().flat_map(|given| given.table.entries.iter_mut());
            if let Some(old) = all.find(|old| old.id == new.id) {
                std::mem::swap(&mut new.component, &mut old.component);
                std::mem::swap(&mut new.stats, &mut old.stats);
                std::mem::swap(&mut new.pending, &mut old.pending);
                new.next = old.next;
                new.inputs.iter_mut().zip(&mut old.inputs).for_each(|(new, old)| new.succeed(old, at));
                new.outputs.iter_mut().zip(&mut old.outputs).for_each(|(new, old)| new.succeed(old));
            } else {
                // A new component: its first logical slot is the one the waveform has come to.
                new.next = at;
                new.inputs.iter_mut().for_each(|input| input.first = at);
            }
        }
    }

    /// Copies each packet that a component has yet to read from the ring it would have read it from.
    fn move_packets(&mut self) {
        for entry in self.new.iter_mut().flatten().flat_map(|table| table.entries.iter_mut()) {
            let next = entry.next;
            for input in &mut entry.inputs {
                input.release(next.saturating_sub(input.delay));
            }
            if next >= entry.until {
                entry.release_all();
            }
        }
        for table in 0..self.new.len() {
            let entries = self.new[table].as_ref().map_or(0, |table| table.entries.len());
            for entry in 0..entries {
                self.fill_rings_of(table, entry);
            }
        }
    }

    fn fill_rings_of(&mut self, table: usize, entry: usize) {
        let Some(producer) = self.new[table].as_mut().and_then(|table| table.entries.get_mut(entry)) else { return };
        let (id, made) = (producer.id, producer.made());
        for port in 0..producer.outputs.len() {
            // Taken out, so that the other entries can be looked at; an empty slice needs no memory.
            let Some(mut rings) = self.output(table, entry, port).map(OutPort::take_rings) else { continue };
            for (index, ring) in rings.iter_mut().enumerate() {
                let source = Source { output: PortId { component: id, port }, ring: index };
                fill(ring, source, made, &self.new, &self.old);
            }
            if let Some(output) = self.output(table, entry, port) {
                output.put_rings(rings);
            }
        }
    }

    fn output(&mut self, table: usize, entry: usize, port: usize) -> Option<&mut OutPort> {
        self.new[table].as_mut()?.entries.get_mut(entry)?.outputs.get_mut(port)
    }
}

fn step(entry: &mut Entry, physical: u64, timer: &mut Timer) {
    entry.collect(physical, true);
    // Slots that were lost before are counted when the worker goes on.
    if let Due::Slot { slot, missed: 0 } = entry.due(physical) {
        let executed = entry.execute(slot, timer.read(), timer, None);
        let ns = timer.ns_of(executed.ticks());
        entry.publish(slot, executed, ns);
    }
}

/// Fills a new ring with the packets below `made` that its readers have yet to read.
fn fill(ring: &mut Writer<Cell>, source: Source, made: u64, new: &[Option<Table>], old: &[Given]) {
    let entries = || new.iter().flatten().flat_map(|table| &table.entries);
    let reads = |entry: &Entry| {
        let ports = entry.inputs.iter().filter(|input| input.source == source);
        ports.map(|input| entry.next.saturating_sub(input.delay)).min()
    };
    let readers = || entries().flat_map(|entry| entry.inputs.iter()).filter(|input| input.source == source);
    let room = readers().next().map(|input| input.room);
    let first = entries().filter_map(reads).min().unwrap_or(made);
    for slot in first.min(made)..made {
        let holders = old.iter().flat_map(|given| &given.table.entries).flat_map(|entry| entry.inputs.iter());
        let packets = holders.filter(|input| input.source.output == source.output && Some(input.room) == room);
        let packet = packets.filter_map(|input| input.peek(slot)).next();
        if let (Some(packet), Some(cell)) = (packet, ring.cell(slot)) {
            cell.copy_from(packet);
            ring.publish(slot);
        }
    }
    if let Some(last) = made.checked_sub(1) {
        ring.publish(last);
    }
}
