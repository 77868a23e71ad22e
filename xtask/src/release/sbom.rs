//! The list of everything in a release: as CycloneDX 1.6, and as a table of licences for people.
//!
//! | part | source |
//! |---|---|
//! | crates of the runner, the guest's programs and the packages | `cargo metadata`, Cargo.lock |
//! | C, Python and JavaScript in the image | the image's own manifest, with digests and origins of the pins |
//! | packages in the page of `runner serve` | the first lines of the bundle |
//! | libraries of the container image | the machine's package database |

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::{Value, json};
use wasibox_image::Image;

use crate::env;
use crate::notices::LinkedCrate;

/// The files that pin sources, all with the same fields.
const PINS: &[&str] = &[
    "python-dist/pins.toml",
    "python-dist/science/pins.toml",
    "python-dist/full/pins.toml",
    "programs/pins.toml",
    "js/pins.toml",
];

/// A part of the release by other authors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Component {
    /// The registry or kind in a package URL: `cargo`, `pypi`, `npm`, `deb` or `generic`.
    pub kind: String,
    pub name: String,
    pub version: String,
    pub licence: String,
    /// The SHA-256 of the source.
    pub sha256: Option<String>,
    /// Where its source is.
    pub source: String,
}

impl Component {
    /// Returns the component's package URL.
    fn url(&self) -> String {
        let Component { kind, name, version, .. } = self;
        // A `+` in a version is data, whereas it separates fields in URLs of other schemes; an `@` in
        // a name would begin the version.
        format!("pkg:{kind}/{}@{}", name.replace('@', "%40"), version.replace('+', "%2B"))
    }
}

#[derive(Deserialize)]
struct Pins {
    #[serde(rename = "source")]
    sources: Vec<Pin>,
}

#[derive(Deserialize)]
struct Pin {
    name: String,
    sha256: String,
    origins: Vec<Origin>,
}

#[derive(Deserialize)]
struct Origin {
    kind: String,
    path: Option<String>,
    url: Option<String>,
    name: Option<String>,
    version: Option<String>,
}

impl Origin {
    /// Returns the address of the source's file or page.
    fn address(&self, version: &str) -> Option<String> {
        let name = self.name.as_deref();
        let version = self.version.as_deref().unwrap_or(version);
        match self.kind.as_str() {
            "url" => self.url.clone(),
            "debian-pool" => Some(format!("https://deb.debian.org/debian/{}", self.path.as_ref()?)),
            "crate" => Some(format!("https://crates.io/crates/{}/{version}", name?)),
            "pypi" | "pypi-source" => {
                Some(format!("https://pypi.org/project/{}/{version}/", name?))
            }
            _ => None,
        }
    }
}

/// Returns crates as components.
pub fn crate_components(crates: &[LinkedCrate]) -> Vec<Component> {
    let component = |c: &LinkedCrate| Component {
        kind: "cargo".into(),
        name: c.name.clone(),
        version: c.version.clone(),
        licence: c.licence.clone(),
        sha256: c.checksum.clone(),
        source: format!("https://crates.io/crates/{}/{}", c.name, c.version),
    };
    crates.iter().map(component).collect()
}

/// Returns the packages in the page of `runner serve`, xterm.js and its parts.
///
/// # Errors
/// Returns an error if the bundle cannot be read.
pub fn page_components() -> Result<Vec<Component>> {
    let component = |(name, version): (String, String)| Component {
        kind: "npm".into(),
        source: "https://github.com/xtermjs/xterm.js".into(),
        name,
        version,
        licence: "MIT".into(),
        sha256: None,
    };
    Ok(crate::web::page::kept_packages()?.into_iter().map(component).collect())
}

/// Returns the components of an image, with digests and origins from the files of pins.
///
/// # Errors
/// Returns an error if the image names a component without stating its licence.
pub fn image_components(image: &Image) -> Result<Vec<Component>> {
    let mut pins = BTreeMap::new();
    for file in PINS {
        let text = String::from_utf8(env::read(&env::root().join(file))?)?;
        let read: Pins = toml::from_str(&text).with_context(|| (*file).to_string())?;
        pins.extend(read.sources.into_iter().map(|pin| (pin.name.clone(), pin)));
    }
    let extra = image.extra();
    let mut components = Vec::new();
    for (name, version) in extra.versions.iter().filter(|(name, _)| *name != "wasibox") {
        let licences: BTreeSet<&str> = (extra.licenses.iter())
            .filter(|licence| licence.component == *name)
            .map(|licence| licence.license.as_str())
            .collect();
        let licences: Vec<&str> = licences.into_iter().collect();
        let pin = pins.get(name);
        let address = |pin: &Pin| pin.origins.iter().find_map(|origin| origin.address(version));
        let is_python =
            pin.is_some_and(|pin| pin.origins.iter().any(|o| o.kind.starts_with("pypi")));
        components.push(Component {
            kind: if is_python { "pypi" } else { "generic" }.into(),
            name: name.clone(),
            version: version.clone(),
            licence: match &licences[..] {
                [] => anyhow::bail!("{name}: the image states no licence of it"),
                licences => licences.join(" AND "),
            },
            sha256: pin.map(|pin| pin.sha256.clone()),
            source: pin.and_then(address).unwrap_or_default(),
        });
    }
    Ok(components)
}

/// Returns the components as a document of CycloneDX 1.6.
pub fn cyclonedx(version: &str, components: &[Component]) -> Result<String> {
    let all: Vec<Value> = components.iter().map(cyclonedx_component).collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            // The date of the image, because the date of a build would change the file.
            "timestamp": "2026-01-01T00:00:00Z",
            "component": {
                "type": "application",
                "bom-ref": "wasibox",
                "name": "wasibox",
                "version": version,
                "licenses": [{ "expression": "MIT OR Apache-2.0" }],
            },
        },
        "components": all,
        "dependencies": [{
            "ref": "wasibox",
            "dependsOn": components.iter().map(Component::url).collect::<Vec<_>>(),
        }],
    });
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn cyclonedx_component(component: &Component) -> Value {
    let url = component.url();
    let mut value = json!({
        "type": "library",
        "bom-ref": url,
        "name": component.name,
        "version": component.version,
    });
    if let Some(sha256) = &component.sha256 {
        value["hashes"] = json!([{ "alg": "SHA-256", "content": sha256 }]);
    }
    value["licenses"] = if component.licence.starts_with("LicenseRef-") {
        json!([{ "license": { "name": component.licence } }])
    } else {
        json!([{ "expression": component.licence }])
    };
    value["purl"] = url.into();
    if !component.source.is_empty() {
        value["externalReferences"] =
            json!([{ "type": "source-distribution", "url": component.source }]);
    }
    value
}

/// Returns the licences as a document for people, with the sources of copyleft parts first.
pub fn licence_list(version: &str, sources: &str, components: &[Component]) -> String {
    let row = |c: &Component| {
        let Component { kind, name, version, licence, source, .. } = c;
        format!("| {name} | {version} | {kind} | {licence} | {source} |\n")
    };
    let head = "| component | version | kind | licence | source |\n|---|---|---|---|---|\n";
    let copyleft: String = components.iter().filter(|c| is_copyleft(&c.licence)).map(row).collect();
    let all: String = components.iter().map(row).collect();
    format!(
        "# Licences of Wasibox {version}\n\n\
         Wasibox itself is licensed under MIT or Apache-2.0, at your choice. It contains the works \
         of others, which keep their licences. Their texts are in the image below \
         `/usr/share/licenses`, and for crates in `THIRD-PARTY.txt` of the packages.\n\n\
         ## Copyleft\n\n\
         `{sources}` has the complete sources of git and make, with the patches and the recipes \
         that build them. The unchanged sources of the other parts are at the addresses in this \
         table.\n\n{head}{copyleft}\n## All\n\n{head}{all}"
    )
}

/// Returns whether every choice in a licence expression has a part that obliges distributors
/// to offer sources.
fn is_copyleft(expression: &str) -> bool {
    let is_such = |part: &str| part.contains("GPL-") || part.contains("MPL-");
    expression.split(" OR ").all(is_such)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn component(licence: &str) -> Component {
        Component {
            kind: "generic".into(),
            name: "n".into(),
            version: "1+2".into(),
            licence: licence.into(),
            sha256: Some("00".into()),
            source: "https://example.com/n".into(),
        }
    }

    #[test]
    fn copyleft_is_where_no_other_choice_is() {
        assert!(is_copyleft("GPL-2.0-only"));
        assert!(is_copyleft("MPL-2.0"));
        assert!(is_copyleft("MIT AND LGPL-2.1-or-later"));
        assert!(!is_copyleft("MIT OR LGPL-2.1-or-later"));
        assert!(!is_copyleft("MIT AND Apache-2.0"));
    }

    /// The names of fields are those of the CycloneDX 1.6 schema.
    #[test]
    fn a_component_has_licence_digest_and_source() {
        assert_eq!(
            cyclonedx_component(&component("MIT")),
            json!({
                "type": "library",
                "bom-ref": "pkg:generic/n@1%2B2",
                "name": "n",
                "version": "1+2",
                "hashes": [{ "alg": "SHA-256", "content": "00" }],
                "licenses": [{ "expression": "MIT" }],
                "purl": "pkg:generic/n@1%2B2",
                "externalReferences":
                    [{ "type": "source-distribution", "url": "https://example.com/n" }],
            })
        );
    }

    #[test]
    fn copyleft_parts_are_listed_with_their_sources() {
        let text =
            licence_list("1.0.0", "s.tar.gz", &[component("GPL-2.0-only"), component("MIT")]);
        let row = "| n | 1+2 | generic | GPL-2.0-only | https://example.com/n |";
        assert_eq!(text.matches(row).count(), 2, "{text}");
        assert!(text.contains("`s.tar.gz` has the complete sources"));
    }
}
