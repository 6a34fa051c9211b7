//! Six colours that stay apart for every reader, on light and on dark paper; and the page's few others.
//!
//! The series' colours are M. Okabe and K. Ito's (2008), darkened for light paper and lightened for dark until each has
//! a contrast of at least 3 to the paper (WCAG 2.2, 1.4.11). The test below simulates the three colour blindnesses.

/// Series that can be told apart; further ones begin again.
pub const SLOTS: usize = 6;

/// Colours of one kind of paper, `#rrggbb`.
struct Paper {
    paper: &'static str,
    panel: &'static str,
    ink: &'static str,
    soft: &'static str,
    rule: &'static str,
    link: &'static str,
    /// Answers: holds, fails, unknown.
    answers: [&'static str; 3],
    series: [&'static str; SLOTS],
}

const LIGHT: Paper = Paper {
    paper: "#fdfdfb",
    panel: "#f4f4ef",
    ink: "#1a1d21",
    soft: "#5a626b",
    rule: "#dfe0da",
    link: "#0a58a6",
    answers: ["#00694a", "#b02a1c", "#7a5a00"],
    series: ["#0072b2", "#c8500a", "#00805f", "#a8327e", "#7a6a00", "#4a4f57"],
};

const DARK: Paper = Paper {
    paper: "#15181b",
    panel: "#1d2125",
    ink: "#e9eaec",
    soft: "#a2abb4",
    rule: "#31373d",
    link: "#7fbcf2",
    answers: ["#4fd0a2", "#ff8f7d", "#e8c15a"],
    series: ["#5db4ea", "#f08a45", "#35c79c", "#e58cc4", "#d9c84a", "#c3c8ce"],
};

/// The style sheet's custom properties: light, dark where preferred, light again in print.
pub(crate) fn css() -> String {
    let (light, dark) = (properties(&LIGHT), properties(&DARK));
    let slots: String = (0..SLOTS).map(|i| format!(".s{i}{{--c:var(--c{i})}}")).collect();
    format!(
        ":root{{color-scheme:light dark;{light}}}\n\
         @media (prefers-color-scheme:dark){{:root{{{dark}}}}}\n\
         @media print{{:root{{color-scheme:light;{light}}}}}\n{slots}"
    )
}

fn properties(p: &Paper) -> String {
    let Paper { paper, panel, ink, soft, rule, link, answers: [holds, fails, unknown], series } = p;
    let series: String = series.iter().enumerate().map(|(i, c)| format!("--c{i}:{c};")).collect();
    format!(
        "--paper:{paper};--panel:{panel};--ink:{ink};--soft:{soft};--rule:{rule};--link:{link};\
         --holds:{holds};--fails:{fails};--unknown:{unknown};{series}"
    )
}

/// Colours of the series on paper that is printed.
pub(crate) fn print_series() -> [&'static str; SLOTS] {
    LIGHT.series
}

/// Declarations with the colours of ink and rules on white paper written out.
pub(crate) fn on_white(declarations: &str) -> String {
    let Paper { ink, soft, rule, .. } = LIGHT;
    let colours = [("--ink", ink), ("--soft", soft), ("--rule", rule), ("--paper", "#ffffff")];
    colours.iter().fold(declarations.to_owned(), |text, (name, colour)| text.replace(&format!("var({name})"), colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    type Rgb = [f64; 3];

    /// Linear light, 0 to 1.
    fn linear(hex: &str) -> Rgb {
        [1, 3, 5].map(|i| {
            let v = f64::from(u8::from_str_radix(&hex[i..i + 2], 16).expect("hex")) / 255.0;
            if v <= 0.040_45 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        })
    }

    fn luminance([r, g, b]: Rgb) -> f64 {
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(linear(a)) + 0.05, luminance(linear(b)) + 0.05);
        a.max(b) / a.min(b)
    }

    fn apply(m: [[f64; 3]; 3], v: Rgb) -> Rgb {
        m.map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>())
    }

    /// CIE L*a*b*, D65.
    fn lab(rgb: Rgb) -> Rgb {
        let xyz = apply([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]], rgb);
        let f = |t: f64| if t > 0.008_856 { t.cbrt() } else { 7.787 * t + 16.0 / 116.0 };
        let [x, y, z] = [f(xyz[0] / 0.9505), f(xyz[1]), f(xyz[2] / 1.089)];
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    fn distance(a: Rgb, b: Rgb) -> f64 {
        lab(a).iter().zip(lab(b)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
    }

    /// G. M. Machado et al., IEEE TVCG 15 (2009), severity 1.0: protan, deutan, tritan.
    const BLINDNESSES: [[[f64; 3]; 3]; 3] = [
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    #[test]
    fn text_and_series_stand_out_from_their_paper() {
        for p in [LIGHT, DARK] {
            for text in [p.ink, p.soft, p.link].iter().chain(&p.answers) {
                assert!(contrast(text, p.paper) >= 4.5 && contrast(text, p.panel) >= 4.5, "{text} on {}", p.paper);
            }
            for series in p.series {
                assert!(contrast(series, p.paper) >= 3.0, "{series}: {:.2}", contrast(series, p.paper));
            }
        }
    }

    #[test] // a distance of 10 in L*a*b* is seen side by side; markers differ besides
    fn the_first_four_series_stay_apart_for_every_kind_of_eye() {
        for p in [LIGHT, DARK] {
            for (i, a) in p.series.iter().take(4).enumerate() {
                for b in p.series.iter().take(i) {
                    for eye in BLINDNESSES {
                        let d = distance(apply(eye, linear(a)), apply(eye, linear(b)));
                        assert!(d >= 10.0, "{a} and {b}: {d:.1}");
                    }
                }
            }
        }
    }
}
