//! A figure as PNG, read by another decoder than takt's writer, and compared with the size that the SVG names.
#![cfg(feature = "png")]

use takt_page::{Axis, Figure, Look, PngError, Point, Reading, Series, Unit};

fn figure(name: &str) -> Figure {
    let point = |x: f64| Point { x, y: Some(Reading::with_interval(x, x - 0.5, x + 0.5, 0.95, 3)), rounds: Vec::new() };
    let points = (1..6).map(|n| point(f64::from(n))).collect();
    Figure {
        id: "rate".to_owned(),
        finding: "It grows".to_owned(),
        x: Axis::linear("load", Unit::COUNT),
        y: Axis::linear(name, Unit::SECONDS),
        series: vec![Series { name: "ours".to_owned(), look: Look::Line, slot: 0, points }],
        ..Figure::default()
    }
}

/// Width, height, and red, green and blue of each pixel.
fn read(file: &[u8]) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().expect("a PNG file");
    let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut pixels).expect("all its pixels");
    let dots = reader.info().pixel_dims.expect("its size in mm");
    assert_eq!((dots.xppu, dots.yppu, dots.unit), (11_811, 11_811, png::Unit::Meter), "300 dpi");
    (info.width, info.height, pixels)
}

#[test]
fn a_figure_has_its_width_at_300_dpi_and_its_ink() {
    let file = match figure("time").to_print_png(88.9) {
        Err(PngError::NoFont) => {
            return takt_testing::skip("this host has no font   (apt-get install fonts-dejavu-core)");
        }
        drawn => drawn.expect("a figure"),
    };
    let (width, height, pixels) = read(&file);
    assert!((1049..=1051).contains(&width) && height > 600 && height < 700, "{width} x {height}");
    let count = |colour: [u8; 3]| pixels.chunks_exact(3).filter(|pixel| *pixel == colour).count();
    let all = pixels.len() / 3;
    assert!(count([255, 255, 255]) > all / 2, "on white");
    assert!(count([0x00, 0x72, 0xB2]) > 500, "the series' line and markers");
}

/// Text that has no face would be left out without a word.
#[test]
fn the_text_is_drawn() {
    let ink = |name: &str| {
        let (.., pixels) = read(&figure(name).to_print_png(120.0).ok()?);
        Some(pixels.iter().filter(|part| **part < 128).count())
    };
    let (Some(little), Some(much)) = (ink("i"), ink("WWWWWWWWWWWWWWWW")) else {
        return takt_testing::skip("this host has no font   (apt-get install fonts-dejavu-core)");
    };
    assert!(much > little + 500, "{little} {much}");
}
