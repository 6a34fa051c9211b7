//! A figure for print as PNG: the SVG of its file, drawn by resvg with a font of this host.

use std::sync::Arc;

use png::{BitDepth, ColorType, Encoder, EncodingError, PixelDimensions, Unit};
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::print::FAMILIES;
use crate::{Figure, PngError};

/// SVG's own dots, by which a drawing that names mm is measured.
const SVG_DPI: f32 = 96.0;
const INCHES_IN_A_METRE: f64 = 39.370_078_74;

impl Figure {
    /// The figure as a PNG file for print, so wide in mm, at [`Figure::PRINT_DPI`].
    ///
    /// # Errors
    /// `NoFont` on a host without fonts; `Drawn` if the figure can't be drawn.
    pub fn to_print_png(&self, width_mm: f64) -> Result<Vec<u8>, PngError> {
        let options = usvg::Options { fontdb: Arc::new(fonts()?), dpi: SVG_DPI, ..usvg::Options::default() };
        let tree = usvg::Tree::from_str(&self.to_print_svg(width_mm), &options).map_err(|error| drawn(&error))?;
        let scale = Figure::PRINT_DPI as f32 / SVG_DPI;
        let size = tree.size().scale_by(scale).ok_or_else(|| drawn(&"it has no size"))?.to_int_size();
        let mut pixels = Pixmap::new(size.width(), size.height()).ok_or_else(|| drawn(&"it is too large"))?;
        pixels.fill(Color::WHITE);
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        encoded(&pixels).map_err(|error| drawn(&error))
    }
}

fn drawn(error: &dyn std::fmt::Display) -> PngError {
    PngError::Drawn { why: error.to_string() }
}

/// This host's fonts. Without a face for the figure's text all its labels would be missing, without a word.
fn fonts() -> Result<fontdb::Database, PngError> {
    let mut fonts = fontdb::Database::new();
    fonts.load_system_fonts();
    let families = FAMILIES.map(fontdb::Family::Name);
    if fonts.query(&fontdb::Query { families: &families, ..fontdb::Query::default() }).is_none() {
        let any = fonts.faces().find(|face| !face.monospaced).and_then(|face| face.families.first());
        let name = any.map(|(name, _)| name.clone()).ok_or(PngError::NoFont)?;
        fonts.set_sans_serif_family(name);
    }
    Ok(fonts)
}

/// All is opaque on white, so three colours are enough. The file says its size in mm.
fn encoded(pixels: &Pixmap) -> Result<Vec<u8>, EncodingError> {
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, pixels.width(), pixels.height());
    encoder.set_color(ColorType::Rgb);
    encoder.set_depth(BitDepth::Eight);
    let per_metre = (f64::from(Figure::PRINT_DPI) * INCHES_IN_A_METRE).round() as u32;
    encoder.set_pixel_dims(Some(PixelDimensions { xppu: per_metre, yppu: per_metre, unit: Unit::Meter }));
    let mut writer = encoder.write_header()?;
    let rgb: Vec<u8> = pixels.pixels().iter().flat_map(|pixel| [pixel.red(), pixel.green(), pixel.blue()]).collect();
    writer.write_image_data(&rgb)?;
    writer.finish()?;
    Ok(file)
}
