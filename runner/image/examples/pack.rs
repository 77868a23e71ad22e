//! Packs an image by hand: `pack OUT ROOTFS|- ATOM=FILE:COMMAND,COMMAND...`
#![forbid(unsafe_code)]

use wasibox_image::{ImageSpec, pack_to};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [out, rootfs, atoms @ ..] = args.as_slice() else {
        eprintln!("usage: pack OUT ROOTFS|- ATOM=FILE:COMMAND,COMMAND...");
        std::process::exit(2);
    };
    let mut spec = ImageSpec {
        name: "wasibox/by-hand".into(),
        version: "0.0.0".into(),
        rootfs: if rootfs == "-" { vec![] } else { vec![rootfs.into()] },
        ..ImageSpec::default()
    };
    for a in atoms {
        let (name, rest) = a.split_once('=').expect("ATOM=FILE:COMMANDS");
        let (file, commands) = rest.rsplit_once(':').expect("FILE:COMMANDS");
        let bytes = std::fs::read(file).unwrap_or_else(|e| panic!("{file}: {e}"));
        spec.atoms.push((name.into(), bytes));
        spec.commands.extend(commands.split(',').map(|c| (c.into(), name.into())));
    }
    match pack_to(&spec, out.as_ref()) {
        Ok(_) => println!("{out}"),
        Err(e) => {
            eprintln!("pack: {e}");
            std::process::exit(1);
        }
    }
}
