//! One part of an experiment: its factors with their levels, and what is the same at every point.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;
use serde_json::Value;
use takt_load::setting::former;
use takt_load::{Model, WorkloadKind};
use toml::Spanned;

use super::error::{Complaint, meant};
use super::node::{Node, Table};
use super::settings::{self, Setting};
use super::{Depth, Stop};

/// A part whose every word was checked.
#[derive(Clone, Debug)]
pub struct Part {
    pub name: String,
    pub question: Option<String>,
    pub kind: WorkloadKind,
    pub factors: Vec<Factor>,
    pub fixed: BTreeMap<String, Value>,
    /// Values among those that a quick run has otherwise.
    pub fixed_quick: BTreeMap<String, Value>,
    pub stop: Option<Stop>,
}

impl Part {
    /// The radio it is about; `None`: it has none, or the radio is what varies.
    pub(crate) fn model(&self) -> Option<Model> {
        let setting = settings::of(self.kind).find(|setting| setting.name == "model")?;
        if self.factors.iter().any(|factor| factor.name == setting.name) {
            return None;
        }
        let model = self.fixed.get(setting.name).cloned().or_else(|| setting.default_value())?;
        serde_json::from_value(model).ok()
    }
}

/// A setting that varies, and its levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Factor {
    pub name: String,
    pub full: Vec<Value>,
    pub quick: Vec<Value>,
}

impl Factor {
    /// Leaves the levels that `keep` accepts. A quick run takes those of a full one if it has no other.
    pub(crate) fn retain(&mut self, keep: impl Fn(&Value) -> bool) {
        self.full.retain(&keep);
        self.quick.retain(&keep);
        if self.quick.is_empty() {
            self.quick.clone_from(&self.full);
        }
    }

    #[must_use]
    pub fn levels(&self, depth: Depth) -> &[Value] {
        depth.pick(&self.full, &self.quick)
    }
}

/// Which names a file may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spelling {
    /// The present ones: its author can mend it.
    Present,
    /// Those of older versions too: it is the file of a recorded run.
    Any,
}

/// A part as the file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[part]]")]
pub(super) struct RawPart {
    name: String,
    question: Option<String>,
    #[serde(default)]
    factors: Table,
    #[serde(default)]
    fixed: Table,
    stop: Option<Spanned<Stop>>,
}

impl RawPart {
    /// A file without parts is one.
    pub(super) fn whole(name: &str, factors: Table, fixed: Table, stop: Option<Spanned<Stop>>) -> RawPart {
        RawPart { name: name.into(), question: None, factors, fixed, stop }
    }

    fn modernise(&mut self) {
        modernise(&mut self.factors);
        modernise(&mut self.fixed);
    }
}

/// Gives settings their present names and levels, those in the workload's own table too.
fn modernise(table: &mut Table) {
    *table = std::mem::take(table)
        .into_iter()
        .map(|(name, mut value)| {
            let name = match former::present_name(name.get_ref()) {
                Some(present) => Spanned::new(name.span(), present.to_owned()),
                None => name,
            };
            modernise_levels(name.get_ref(), value.get_mut());
            (name, value)
        })
        .collect();
}

fn modernise_levels(name: &str, node: &mut Node) {
    match node {
        Node::Leaf(level) => {
            if let Some(present) = former::present_level(name, level) {
                *level = present.into();
            }
        }
        Node::List(levels) => levels.iter_mut().for_each(|level| modernise_levels(name, level.get_mut())),
        // The workload's options, or the levels of a full and of a quick run.
        Node::Table(table) if name == "workload" => modernise(table),
        Node::Table(table) => table.values_mut().for_each(|levels| modernise_levels(name, levels.get_mut())),
    }
}

pub(super) fn check(mut raw: RawPart, span: Range<usize>, spelling: Spelling) -> Result<Part, Complaint> {
    if spelling == Spelling::Any {
        raw.modernise();
    }
    let (kind, mut options) = workload(&mut raw.fixed, span.clone())?;
    options.append(&mut raw.fixed);
    let (mut fixed, mut fixed_quick) = (BTreeMap::new(), BTreeMap::new());
    for (name, value) in &options {
        let setting = setting(name, kind)?;
        let (full, quick) = by_depth(setting, value)?;
        fixed.insert(setting.name.to_owned(), full);
        fixed_quick.extend(quick.map(|quick| (setting.name.to_owned(), quick)));
    }
    let mut factors = Vec::new();
    for (name, value) in &raw.factors {
        let setting = setting(name, kind)?;
        if fixed.contains_key(setting.name) {
            let what = format!("{} is both a factor and fixed", setting.name);
            return Err(Complaint::new(name.span(), what, "remove one of the two"));
        }
        factors.push(factor(setting, value)?);
    }
    complete(kind, &factors, &fixed, span)?;
    let stop = raw.stop.map(|stop| ascending(stop, &factors)).transpose()?;
    Ok(Part { name: raw.name, question: raw.question, kind, factors, fixed, fixed_quick, stop })
}

/// Takes the workload's table out of `fixed`: its kind, and its options.
fn workload(fixed: &mut Table, part: Range<usize>) -> Result<(WorkloadKind, Table), Complaint> {
    let kinds = || WorkloadKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>();
    let remedy = format!("set fixed.workload = {{ kind = \"...\" }} to one of: {}", kinds().join(", "));
    let missing = || Complaint::new(part.start..part.start, "the part has no workload", remedy.clone());
    let key = fixed.keys().find(|key| key.get_ref() == "workload").cloned().ok_or_else(missing)?;
    let node = fixed.remove(&key).ok_or_else(missing)?;
    let span = node.span();
    let Node::Table(mut options) = node.into_inner() else {
        return Err(Complaint::new(span, "the workload is not a table", remedy));
    };
    let key = options.keys().find(|key| key.get_ref() == "kind").cloned();
    let Some(kind) = key.and_then(|key| options.remove(&key)) else {
        return Err(Complaint::new(span, "the workload has no kind", remedy));
    };
    let (place, name) = (kind.span(), kind.into_inner());
    let name = match &name {
        Node::Leaf(Value::String(name)) => name.as_str(),
        _ => "",
    };
    match WorkloadKind::named(name) {
        Some(kind) => Ok((kind, options)),
        None => {
            let remedy = meant(name, kinds(), format!("use one of: {}", kinds().join(", ")));
            Err(Complaint::new(place, format!("unknown workload \"{name}\""), remedy))
        }
    }
}

/// The row of a name, if this workload knows it.
fn setting(name: &Spanned<String>, kind: WorkloadKind) -> Result<&'static Setting, Complaint> {
    let known = || settings::of(kind).map(|setting| setting.name);
    let complain = |what: String| {
        let all = format!("use a setting of a {} workload: {}", kind.name(), known().collect::<Vec<_>>().join(", "));
        let renamed = former::present_name(name.get_ref()).filter(|present| known().any(|known| known == *present));
        let remedy = match renamed {
            Some(present) => format!("write \"{present}\", its present name"),
            None => meant(name.get_ref(), known(), all),
        };
        Complaint::new(name.span(), what, remedy).help("See `takt experiment factors` for all. Nothing was run.")
    };
    match settings::find(name.get_ref()) {
        None => Err(complain(format!("unknown factor \"{}\"", name.get_ref()))),
        Some(setting) => settings::of(kind)
            .find(|known| known.name == setting.name)
            .ok_or_else(|| complain(format!("a {1} workload has no setting {0}", setting.name, kind.name()))),
    }
}

/// A value, or `{ full = ..., quick = ... }`: the value of a full run, and of a quick one where it differs.
fn by_depth(setting: &Setting, value: &Spanned<Node>) -> Result<(Value, Option<Value>), Complaint> {
    let leaf = |value: &Spanned<Node>| match value.get_ref() {
        Node::Leaf(leaf) => accept(setting, leaf, value.span()),
        other => {
            let what = format!("{} is fixed, but its value is {}", setting.name, other.what());
            Err(Complaint::new(value.span(), what, "move it to [factors] to give it several levels"))
        }
    };
    let Node::Table(table) = value.get_ref() else { return Ok((leaf(value)?, None)) };
    let of = |depth: &str| table.iter().find(|(key, _)| key.get_ref() == depth).map(|(_, value)| value);
    match (of("full"), of("quick"), table.len()) {
        (Some(full), Some(quick), 2) => Ok((leaf(full)?, Some(leaf(quick)?))),
        _ => {
            let what = format!("{} is fixed, but its value is a table of other keys", setting.name);
            Err(Complaint::new(
                value.span(),
                what,
                format!("write {} = ..., or {{ full = ..., quick = ... }}", setting.name),
            ))
        }
    }
}

fn accept(setting: &Setting, value: &Value, place: Range<usize>) -> Result<Value, Complaint> {
    setting.accept(value).map_err(|(what, remedy)| Complaint::new(place, what, remedy))
}

/// A list of levels, or `{ full = [...], quick = [...] }`.
fn factor(setting: &Setting, value: &Spanned<Node>) -> Result<Factor, Complaint> {
    let name = setting.name.to_owned();
    let refuse = |what: &str| {
        let remedy = format!("write {} = [...], or {{ full = [...], quick = [...] }}", setting.name);
        Complaint::new(value.span(), format!("{} is a factor, but its value is {what}", setting.name), remedy)
    };
    let by_depth = match value.get_ref() {
        Node::List(_) => {
            let full = levels(setting, value)?;
            return Ok(Factor { name, quick: full.clone(), full });
        }
        Node::Table(by_depth) => by_depth,
        Node::Leaf(_) => return Err(refuse("a single value")),
    };
    let of = |depth: &str| by_depth.iter().find(|(key, _)| key.get_ref() == depth).map(|(_, levels)| levels);
    let (Some(full), 1..=2) = (of("full"), by_depth.len()) else { return Err(refuse("a table")) };
    let quick = match (of("quick"), by_depth.len()) {
        (Some(quick), 2) => quick,
        (None, 1) => full,
        _ => return Err(refuse("a table")),
    };
    Ok(Factor { name, full: levels(setting, full)?, quick: levels(setting, quick)? })
}

fn levels(setting: &Setting, list: &Spanned<Node>) -> Result<Vec<Value>, Complaint> {
    let remedy = format!("write {} = [...] with at least one level", setting.name);
    let Node::List(nodes) = list.get_ref() else {
        return Err(Complaint::new(list.span(), format!("the levels of {} are not a list", setting.name), remedy));
    };
    let mut levels = Vec::new();
    for node in nodes {
        let Node::Leaf(leaf) = node.get_ref() else {
            let what = format!("a level of {} is {}", setting.name, node.get_ref().what());
            return Err(Complaint::new(node.span(), what, "give a single value"));
        };
        let level = accept(setting, leaf, node.span())?;
        if levels.contains(&level) {
            let what = format!("{} has the level {level} twice", setting.name);
            return Err(Complaint::new(
                node.span(),
                what,
                "give each level once, and raise the number of rounds to repeat it",
            ));
        }
        levels.push(level);
    }
    if levels.is_empty() {
        return Err(Complaint::new(list.span(), format!("{} has no level", setting.name), remedy));
    }
    Ok(levels)
}

/// Everything without a default is set.
fn complete(
    kind: WorkloadKind,
    factors: &[Factor],
    fixed: &BTreeMap<String, Value>,
    part: Range<usize>,
) -> Result<(), Complaint> {
    let is_set = |name: &str| fixed.contains_key(name) || factors.iter().any(|factor| factor.name == name);
    let required = settings::of(kind).filter(|setting| setting.default.is_none());
    match required.into_iter().find(|setting| !is_set(setting.name)) {
        None => Ok(()),
        Some(setting) => {
            let what = format!("a {} workload needs {}", kind.name(), setting.name);
            Err(Complaint::new(part.start..part.start, what, format!("set {}: {}", setting.name, setting.about)))
        }
    }
}

fn ascending(stop: Spanned<Stop>, factors: &[Factor]) -> Result<Stop, Complaint> {
    let span = stop.span();
    let stop = stop.into_inner();
    let numeric = |factor: &&Factor| factor.full.iter().all(Value::is_number);
    let able: Vec<&str> = factors.iter().filter(numeric).map(|factor| factor.name.as_str()).collect();
    if !able.contains(&stop.ascending.as_str()) {
        let what = format!("{} is not a factor of this part with numbers for levels", stop.ascending);
        let remedy = if able.is_empty() {
            "remove `stop`: no factor of this part has numbers for levels".into()
        } else {
            format!("use one of: {}", able.join(", "))
        };
        return Err(Complaint::new(span, what, remedy));
    }
    if !(stop.lost_share_above > 0.0 && stop.lost_share_above < 1.0) || stop.levels == 0 {
        return Err(Complaint::new(
            span,
            "this rule would stop always, or never",
            "give a share between 0 and 1, and at least 1 level",
        ));
    }
    Ok(stop)
}
