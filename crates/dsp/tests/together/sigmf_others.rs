//! Recordings as other programs write them: any datatype, several channels, headers and trailers, other names, archives; and
//! those that are made to harm whoever opens them.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};
use takt_base::Complex32;
use takt_dsp::file::{Datatype, Existing, FileError, SampleFormat};
use takt_dsp::sigmf::{Checksum, Global, Reader, Writer};

/// Metadata of two samples `ci8`, or as many as there are: with these fields of the globals and these captures.
fn meta(global: Value, captures: Value) -> String {
    let mut all = json!({ "core:datatype": "ci8", "core:version": "1.2.0", "core:sample_rate": 1e6 });
    if let (Value::Object(all), Value::Object(more)) = (&mut all, global) {
        all.extend(more);
    }
    json!({ "global": all, "captures": captures, "annotations": [] }).to_string()
}

fn start() -> Value {
    json!([{ "core:sample_start": 0 }])
}

/// Two files `x` in the folder.
fn pair(dir: &Path, meta: &str, data: &[u8]) -> PathBuf {
    fs::write(dir.join("x.sigmf-meta"), meta).unwrap();
    fs::write(dir.join("x.sigmf-data"), data).unwrap();
    dir.join("x")
}

/// An archive of regular files with any names.
fn archive(path: &Path, members: &[(&str, &[u8])]) {
    let mut builder = tar::Builder::new(File::create(path).unwrap());
    for (name, bytes) in members {
        builder.append(&header(name, bytes.len() as u64, tar::EntryType::Regular), *bytes).unwrap();
    }
    builder.finish().unwrap();
}

fn header(name: &str, bytes: u64, kind: tar::EntryType) -> tar::Header {
    let mut header = tar::Header::new_gnu();
    // Not by `set_path`, which refuses what a hostile archive has.
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(bytes);
    header.set_cksum();
    header
}

fn read_all(reader: &mut Reader, block: usize) -> Vec<Complex32> {
    let (mut all, mut part) = (Vec::new(), vec![Complex32::default(); block]);
    loop {
        match reader.read(&mut part).unwrap() {
            0 => return all,
            read => all.extend_from_slice(&part[..read]),
        }
    }
}

/// The refusal of a recording, and its fix, both without the folder.
#[track_caller]
fn refusal(path: &Path) -> (String, String) {
    let error = Reader::open(path).map(|_| ()).expect_err("must be refused");
    let folder = format!("{}/", path.parent().unwrap().display());
    (error.to_string().replace(&folder, ""), error.fix().replace(&folder, ""))
}

#[test] // F8: "split the recording into one of a single channel" was the fix for a field that is allowed
fn metadata_may_say_that_they_are_alone_where_they_are_not() {
    let dir = tempfile::tempdir().unwrap();
    let alone = meta(json!({ "core:metadata_only": true }), start());
    let path = pair(dir.path(), &alone, &[1, 2, 3, 4]);
    assert_eq!(Reader::open(&path).unwrap().samples(), 2);
    fs::remove_file(dir.path().join("x.sigmf-data")).unwrap();
    let (text, fix) = refusal(&path);
    assert_eq!(text, "x.sigmf-meta: it is a description alone (core:metadata_only), not a recording with samples");
    assert_eq!(fix, "ask whoever published it for the data file, and put that beside it");
}

#[test] // F8: its own data file was to be renamed to what it is called
fn the_data_may_have_another_name_in_the_same_folder() {
    let dir = tempfile::tempdir().unwrap();
    let named = |name: &str| pair(dir.path(), &meta(json!({ "core:dataset": name }), start()), &[1, 2]);
    assert_eq!(Reader::open(&named("x.sigmf-data")).unwrap().samples(), 1);
    fs::write(dir.path().join("capture 7.cs8"), [0; 6]).unwrap();
    let path = named("capture 7.cs8");
    assert_eq!(Reader::open(&path).unwrap().samples(), 3, "not the file of the usual name");
    assert_eq!(Reader::open(&path).unwrap().metadata().global.dataset.as_deref(), Some("capture 7.cs8"));

    let path = named("gone.dat");
    let (text, fix) = refusal(&path);
    assert_eq!(
        text,
        r#"x.sigmf-meta: /global/core:dataset is "gone.dat", which is missing, not a file beside the metadata"#
    );
    assert_eq!(fix, "put gone.dat beside the metadata, or correct the name");
    for name in ["../x.sigmf-data", "/etc/passwd", "a/b", "..", ".", "", "a\\b", "a\0b"] {
        let (text, fix) = refusal(&named(name));
        assert!(text.contains("not the name of a file in the same folder"), "{name:?}: {text}");
        assert_eq!(fix, "put the data file beside the metadata, and name it without its folder");
    }
}

/// The author of the metadata may have laid a link beside them.
#[test]
fn a_link_that_metadata_name_is_not_followed() {
    let (dir, place) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(place.path().join("secret"), [0; 8]).unwrap();
    symlink(place.path().join("secret"), dir.path().join("link")).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    for name in ["link", "folder"] {
        let path = pair(dir.path(), &meta(json!({ "core:dataset": name }), start()), &[]);
        let (text, _) = refusal(&path);
        let found = format!(r#"/global/core:dataset is "{name}", a link, folder or device, not a file beside"#);
        assert!(text.contains(&found), "{text}");
    }
}

#[test] // F4, F5
fn without_captures_there_is_one_and_a_recording_begins_with_its_first() {
    let dir = tempfile::tempdir().unwrap();
    for (offset, captures, begins) in [
        (0, json!([]), 0),
        (9, json!([]), 0),
        (0, json!([{ "core:sample_start": 3 }]), 3),
        (9, json!([{ "core:sample_start": 12 }, { "core:sample_start": 14 }]), 3),
    ] {
        let path = pair(dir.path(), &meta(json!({ "core:offset": offset }), captures), &[7; 20]);
        let reader = Reader::open(&path).unwrap();
        assert_eq!((reader.begins(), reader.samples()), (begins, 10));
        assert_eq!(reader.metadata().captures[0].sample_start, offset + begins);
        assert!(reader.capture_at(begins).is_some() && reader.require_samples().is_ok());
        let mut data = reader.into_data();
        assert_eq!((data.samples(), data.position()), (10 - begins, 0));
        assert_eq!(data.load(100).unwrap().unwrap(), vec![7; 20 - 2 * begins as usize]);
        assert_eq!(data.load(1).unwrap(), None);
    }
}

#[test]
fn a_recording_without_samples_says_why() {
    let dir = tempfile::tempdir().unwrap();
    let says = |captures: Value, data: &[u8]| {
        let reader = Reader::open(&pair(dir.path(), &meta(json!({}), captures), data)).unwrap();
        let error = reader.require_samples().unwrap_err();
        error.to_string().replace(&format!("{}/", dir.path().display()), "")
    };
    assert_eq!(says(json!([]), &[]), "x.sigmf-data: it is empty, not a file with samples");
    assert_eq!(
        says(json!([{ "core:sample_start": 2 }]), &[0; 4]),
        "x.sigmf-meta: /captures/0/core:sample_start is 2, not one of the 2 samples of x.sigmf-data"
    );
}

#[test]
fn a_channel_that_is_not_there_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = pair(dir.path(), &meta(json!({ "core:num_channels": 2 }), start()), &[0; 8]);
    assert_eq!(Reader::open_channel(&path, 1).unwrap().samples(), 2);
    let error = Reader::open_channel(&path, 2).unwrap_err();
    assert!(error.to_string().ends_with("core:num_channels is 2, not enough for a channel 2"), "{error}");
    assert_eq!(error.fix(), "name a channel from 0 to 1");
    let torn = pair(dir.path(), &meta(json!({ "core:num_channels": 2 }), start()), &[0; 6]);
    assert_eq!(
        refusal(&torn).0,
        "x.sigmf-data has 6 bytes and ends within a sample; samples of this format have 4 bytes"
    );
}

#[test]
fn headers_and_trailers_that_do_not_fit_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = pair(dir.path(), &meta(json!({ "core:trailing_bytes": 5 }), start()), &[0; 4]);
    let (text, _) = refusal(&path);
    let expected = "as long as core:header_bytes and core:trailing_bytes together";
    assert_eq!(text, format!("x.sigmf-data: it is 4 bytes long, not {expected}"));
    let huge = json!([{ "core:sample_start": 0, "core:header_bytes": u64::MAX },
        { "core:sample_start": 0, "core:header_bytes": u64::MAX }]);
    assert!(refusal(&pair(dir.path(), &meta(json!({}), huge), &[0; 4])).0.ends_with(expected));
    let path = pair(dir.path(), &meta(json!({ "core:trailing_bytes": 1 }), start()), &[0; 4]);
    let (text, _) = refusal(&path);
    assert_eq!(
        text,
        "x.sigmf-data: the part with samples is 3 bytes long, not a multiple of 2, the bytes of a sample of all channels"
    );
}

#[test]
fn an_archive_is_read_where_it_lies() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.sigmf");
    let (text, other) = (meta(json!({}), start()), meta(json!({ "core:dataset": "capture.bin" }), start()));
    let data = &[1, 2, 3, 4][..];
    for members in [
        &[("x/x.sigmf-meta", text.as_bytes()), ("x/x.sigmf-data", data)][..],
        &[("x/x.sigmf-data", data), ("x/x.sigmf-meta", text.as_bytes())],
        &[("./x.sigmf-meta", text.as_bytes()), ("./x.sigmf-data", data), ("README", &b"more"[..])],
        &[("x/x.sigmf-meta", other.as_bytes()), ("x/x.sigmf-data", &b"not these"[..]), ("x/capture.bin", data)],
        // Paths that lead elsewhere are passed over.
        &[("../../x.sigmf-data", &b"nor these"[..]), ("x/x.sigmf-meta", text.as_bytes()), ("x/x.sigmf-data", data)],
    ] {
        archive(&path, members);
        for name in ["run.sigmf", "run"] {
            let mut reader = Reader::open(&dir.path().join(name)).unwrap();
            let datatype = Datatype::from(SampleFormat::Sc8);
            let mut expected = [Complex32::default(); 2];
            datatype.decode(data, &mut expected);
            assert_eq!(read_all(&mut reader, 100), expected, "{members:?}");
        }
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is unpacked");
    }
    // Two files of the name go first.
    pair(dir.path(), &text, &[0; 12]);
    fs::rename(&path, dir.path().join("x.sigmf")).unwrap();
    assert_eq!(Reader::open(&dir.path().join("x")).unwrap().samples(), 6);
    assert_eq!(Reader::open(&dir.path().join("x.sigmf")).unwrap().samples(), 2);
}

#[test] // F8: "x.sigmf.sigmf-meta: No such file"
fn an_archive_that_is_none_says_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sigmf");
    let error = Reader::open(&path).map(|_| ()).unwrap_err();
    assert!(matches!(&error, FileError::Io { action: "opening", path: missing, .. } if *missing == path), "{error}");

    let text = meta(json!({}), start());
    let wrong = |members: &[(&str, &[u8])]| {
        archive(&path, members);
        refusal(&path).0
    };
    assert_eq!(wrong(&[]), "x.sigmf: it is without NAME/NAME.sigmf-meta, not a SigMF archive");
    let two = [("x/x.sigmf-meta", text.as_bytes()), ("y/y.sigmf-meta", text.as_bytes())];
    assert_eq!(wrong(&two), "x.sigmf: it is an archive of 2 recordings, not an archive of one");
    assert_eq!(refusal(&path).1, "unpack it and name one of them: tar -xf x.sigmf");
    assert_eq!(wrong(&two[..1]), "x.sigmf/x/x.sigmf-meta: its data file is missing, not a regular file of the archive");
    let twice = [two[0], ("x/x.sigmf-data", &b"ab"[..]), ("x/x.sigmf-data", &b"cd"[..])];
    assert_eq!(wrong(&twice), "x.sigmf: x/x.sigmf-data is there twice, not one file");

    archive(&path, &[two[0], ("x/x.sigmf-data", &[0; 4000][..])]);
    File::options().write(true).open(&path).unwrap().set_len(3000).unwrap();
    assert_eq!(
        refusal(&path).0,
        "x.sigmf: it is damaged or of another kind (x/x.sigmf-data is cut off), not a SigMF archive"
    );
    fs::write(&path, b"\x1F\x8B gzip or whatever else has no header of a tar file".repeat(20)).unwrap();
    assert!(refusal(&path).0.starts_with("x.sigmf: it is damaged or of another kind ("));
    fs::rename(&path, dir.path().join("x.sigmf.gz")).unwrap();
    let (text, fix) = refusal(&dir.path().join("x.sigmf.gz"));
    assert_eq!(text, "x.sigmf.gz: it is compressed, not an archive that can be read where it lies");
    assert_eq!(fix, "unpack it first: gunzip x.sigmf.gz");
}

#[test]
fn a_link_in_an_archive_is_no_data_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sigmf");
    let text = meta(json!({}), start());
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Char, tar::EntryType::Fifo] {
        let mut builder = tar::Builder::new(File::create(&path).unwrap());
        let regular = header("x/x.sigmf-meta", text.len() as u64, tar::EntryType::Regular);
        builder.append(&regular, text.as_bytes()).unwrap();
        let mut link = header("x/x.sigmf-data", 0, kind);
        link.set_link_name("/etc/hostname").unwrap();
        link.set_cksum();
        builder.append(&link, std::io::empty()).unwrap();
        builder.finish().unwrap();
        assert!(refusal(&path).0.contains("its data file is missing"), "{kind:?}");
    }
}

#[test]
fn a_name_that_claims_to_be_very_long_is_not_taken_into_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.sigmf");
    fs::write(&path, header("long", 1 << 32, tar::EntryType::GNULongName).as_bytes()).unwrap();
    // It is made of holes, so that it takes no room.
    File::options().write(true).open(&path).unwrap().set_len((1 << 32) + 4096).unwrap();
    assert_eq!(
        refusal(&path).0,
        "x.sigmf: it is damaged or of another kind (its headers exceed 4 MiB), not a SigMF archive"
    );
}

#[test] // nobody looked
fn data_are_held_against_their_hash() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    let mut writer = Writer::create(&path, Global::new(SampleFormat::Sc16), Existing::Keep).unwrap();
    writer.write(&[Complex32::new(0.5, -0.5); 1000]).unwrap();
    let sealed = writer.seal().unwrap();
    let hash = sealed.global.sha512.clone().expect("a small file has one");
    assert_eq!(Reader::open(&path).unwrap().check().unwrap(), Checksum::Matches);

    let rewrite = |hash: &str| {
        let text = fs::read_to_string(dir.path().join("x.sigmf-meta")).unwrap();
        fs::write(dir.path().join("x.sigmf-meta"), text.replace(sealed.global.sha512.as_deref().unwrap(), hash))
            .unwrap();
    };
    rewrite(&hash.to_uppercase());
    assert_eq!(Reader::open(&path).unwrap().check().unwrap(), Checksum::Matches, "in capitals");
    let mut bytes = fs::read(dir.path().join("x.sigmf-data")).unwrap();
    bytes[17] ^= 1;
    fs::write(dir.path().join("x.sigmf-data"), bytes).unwrap();
    let error = Reader::open(&path).unwrap().check().unwrap_err();
    let begins = format!("/global/core:sha512 is {}..., not ", &hash.to_uppercase()[..16]);
    assert!(error.to_string().contains(&begins), "{error}");
    assert_eq!(error.fix(), "restore the data file; if it was changed on purpose, take the field away");

    let plain = pair(dir.path(), &meta(json!({}), start()), &[0; 4]);
    assert_eq!(Reader::open(&plain).unwrap().check().unwrap(), Checksum::Absent);
}

/// The whole data file is hashed: what is no sample, too; in an archive, that member alone.
#[test]
fn a_hash_is_of_the_whole_data_file() {
    let dir = tempfile::tempdir().unwrap();
    let data: &[u8] = &[9, 9, 9, 1, 2, 3, 4, 8];
    let captures = json!([{ "core:sample_start": 0, "core:header_bytes": 3 }]);
    let hash = format!("{:x}", Sha512::digest(data));
    let text = meta(json!({ "core:trailing_bytes": 1, "core:sha512": hash }), captures);
    let archived = dir.path().join("archived.sigmf");
    archive(&archived, &[("x/x.sigmf-meta", text.as_bytes()), ("x/x.sigmf-data", data)]);
    for path in [pair(dir.path(), &text, data), archived] {
        let reader = Reader::open(&path).unwrap();
        assert_eq!((reader.samples(), reader.check().unwrap()), (2, Checksum::Matches));
    }
}

/// A recording of random bytes in any form, and the samples of each of its channels.
#[derive(Clone, Debug)]
struct Foreign {
    datatype: Datatype,
    global: Value,
    captures: Value,
    data: Vec<u8>,
    channels: Vec<Vec<Complex32>>,
}

fn foreign() -> impl Strategy<Value = Foreign> {
    let datatype = prop::sample::select(Datatype::all().collect::<Vec<_>>());
    let runs = prop::collection::vec((0usize..40, 0usize..9), 1..5);
    (datatype, 1usize..4, runs, 0usize..7, 0u64..1000, any::<u8>()).prop_map(
        |(datatype, channels, runs, trailing, offset, seed)| {
            let sample = datatype.sample_bytes();
            let mut byte = seed;
            let mut bytes = |count: usize| -> Vec<u8> {
                let next = |_| {
                    byte = byte.wrapping_mul(5).wrapping_add(113);
                    byte
                };
                (0..count).map(next).collect()
            };
            let (mut data, mut captures, mut frames) = (Vec::new(), Vec::new(), Vec::new());
            for (run, header) in runs {
                let start = offset + (frames.len() / (channels * sample)) as u64;
                captures.push(json!({ "core:sample_start": start, "core:header_bytes": header }));
                data.extend(bytes(header));
                let samples = bytes(run * channels * sample);
                frames.extend_from_slice(&samples);
                data.extend(samples);
            }
            data.extend(bytes(trailing));
            let of_channel = |channel: usize| {
                let own = frames.chunks(sample).skip(channel).step_by(channels);
                let own: Vec<u8> = own.flatten().copied().collect();
                let mut out = vec![Complex32::default(); own.len() / sample];
                datatype.decode(&own, &mut out);
                out
            };
            let global = json!({
                "core:datatype": datatype.to_string(),
                "core:num_channels": channels,
                "core:trailing_bytes": trailing,
                "core:offset": offset,
            });
            let channels = (0..channels).map(of_channel).collect();
            Foreign { datatype, global, captures: Value::from(captures), data, channels }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Each channel is read to the sample, with anything around the samples, from files and from an archive, in any blocks.
    #[test]
    fn each_channel_is_read_from_between_all_else(foreign in foreign(), block in 1usize..50, at in 0u64..200) {
        let dir = tempfile::tempdir().unwrap();
        let text = meta(foreign.global.clone(), foreign.captures.clone());
        let path = pair(dir.path(), &text, &foreign.data);
        let archived = dir.path().join("archived.sigmf");
        archive(&archived, &[("x/x.sigmf-meta", text.as_bytes()), ("x/x.sigmf-data", foreign.data.as_slice())]);
        for (channel, samples) in foreign.channels.iter().enumerate() {
            for path in [&path, &archived] {
                let mut reader = Reader::open_channel(path, channel as u64).unwrap();
                prop_assert_eq!(reader.samples(), samples.len() as u64);
                prop_assert_eq!(&read_all(&mut reader, block), samples);
                reader.seek(at);
                let rest = samples.get(at as usize..).unwrap_or_default();
                prop_assert_eq!(&read_all(&mut reader, block)[..], rest);
                let mut loaded = vec![Complex32::default(); samples.len()];
                foreign.datatype.decode(&reader.into_data().load(u64::MAX).unwrap().unwrap(), &mut loaded);
                prop_assert_eq!(&loaded, samples);
            }
        }
    }

    /// An archive that was changed in some bytes or cut off is read, or refused with a fix.
    #[test]
    fn no_archive_panics(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6), cut in any::<prop::sample::Index>(), cuts in any::<bool>()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.sigmf");
        archive(&path, &[("x/x.sigmf-meta", meta(json!({}), start()).as_bytes()), ("x/x.sigmf-data", &[7; 700][..])]);
        let mut bytes = fs::read(&path).unwrap();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cuts {
            bytes.truncate(cut.index(bytes.len()));
        }
        fs::write(&path, bytes).unwrap();
        match Reader::open(&path) {
            Ok(mut reader) => prop_assert_eq!(read_all(&mut reader, 64).len() as u64, reader.samples()),
            Err(error) => prop_assert!(!error.fix().is_empty()),
        }
    }

    /// Names of members decide nothing but which of them is read.
    #[test]
    fn no_name_of_a_member_panics(names in prop::collection::vec("[ -~é/.]{0,40}", 0..5)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.sigmf");
        let text = meta(json!({}), start());
        let mut members: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"0123"[..])).collect();
        members.extend([("x/x.sigmf-meta", text.as_bytes()), ("x/x.sigmf-data", &[1, 2][..])]);
        archive(&path, &members);
        prop_assert_eq!(Reader::open(&path).unwrap().samples(), 1);
    }
}
