//! The page: one document with its style and its script in it, and the headers that keep anything else out.

use std::sync::LazyLock;

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

const FRAME: &str = include_str!("../page/index.html");
const STYLE: &str = include_str!("../page/page.css");
/// In this order: each uses those before it.
const SCRIPTS: [&str; 18] = [
    include_str!("../page/js/dom.js"),
    include_str!("../page/js/numbers.js"),
    include_str!("../page/js/feed.js"),
    include_str!("../page/js/radios.js"),
    include_str!("../page/js/slots.js"),
    include_str!("../page/js/graph.js"),
    include_str!("../page/js/canvas.js"),
    include_str!("../page/js/spectrum.js"),
    include_str!("../page/js/waterfall.js"),
    include_str!("../page/js/constellation.js"),
    include_str!("../page/js/signal.js"),
    include_str!("../page/js/links.js"),
    include_str!("../page/js/nodes.js"),
    include_str!("../page/js/variables.js"),
    include_str!("../page/js/verdict.js"),
    include_str!("../page/js/head.js"),
    include_str!("../page/js/view.js"),
    include_str!("../page/js/app.js"),
];

/// The document, and what a browser may do with it.
pub(crate) struct Page {
    pub(crate) html: String,
    policy: HeaderValue,
}

pub(crate) static PAGE: LazyLock<Page> = LazyLock::new(Page::new);

impl Page {
    fn new() -> Page {
        let script = format!("(() => {{\n\"use strict\";\n{}}})();\n", SCRIPTS.concat());
        let html = FRAME.replace("/*STYLE*/", STYLE).replace("/*SCRIPT*/", &script);
        // The hashes admit these two texts and no others, so a text that got into the page by a mistake does nothing.
        let policy = format!(
            "default-src 'none'; style-src '{}'; script-src '{}'; connect-src 'self'; img-src data:; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'",
            hash(STYLE),
            hash(&script)
        );
        // Base64 and ASCII only.
        let policy = HeaderValue::from_str(&policy).unwrap_or(HeaderValue::from_static("default-src 'none'"));
        Page { html, policy }
    }

    /// Adds the headers that each answer has.
    pub(crate) fn protect(&self, headers: &mut HeaderMap) {
        headers.insert(header::CONTENT_SECURITY_POLICY, self.policy.clone());
        let plain: [(HeaderName, &str); 5] = [
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-store"),
            (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
            (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        ];
        for (name, value) in plain {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_whole_and_loads_nothing() {
        let html = &PAGE.html;
        assert!(!html.contains("/*STYLE*/") && !html.contains("/*SCRIPT*/"));
        assert_eq!((html.matches("<script>").count(), html.matches("</script>").count()), (1, 1));
        assert_eq!(html.matches("</style>").count(), 1);
        for outside in ["https://", "src=", "@import", "innerHTML", "eval("] {
            assert!(!html.contains(outside), "{outside}");
        }
        let names = html.replace("http://www.w3.org/2000/svg", "").replace("url(#arrow)", "");
        assert!(
            !names.contains("http://") && !names.contains("url("),
            "only the name of SVG and the arrow are addresses"
        );
    }

    #[test]
    fn the_policy_admits_the_texts_of_this_document_alone() {
        let policy = PAGE.policy.to_str().unwrap();
        for (open, close) in [("<style>", "</style>"), ("<script>", "</script>")] {
            let text = PAGE.html.split_once(open).unwrap().1.split_once(close).unwrap().0;
            assert!(policy.contains(&hash(text)), "{open}: {policy}");
        }
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"));
    }

    /// The report's colours were tested for contrast and colour blindness: the page has the same.
    #[test]
    fn each_colour_is_one_of_the_reports() {
        let crates = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
        let palettes = std::fs::read_dir(crates).unwrap().map(|folder| folder.unwrap().path().join("src/palette.rs"));
        let palette: String = palettes.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
        let colours = STYLE.split('#').skip(1).filter_map(|rest| rest.get(..6)).collect::<Vec<_>>();
        let is_hex = |text: &&str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        let colours: Vec<&str> = colours.into_iter().filter(is_hex).collect();
        assert_eq!(colours.len(), 30, "15 on light paper, 15 on dark");
        for colour in colours {
            assert!(palette.contains(&format!("\"#{colour}\"")), "#{colour}");
        }
    }
}
