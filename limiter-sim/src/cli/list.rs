//! `limiter-sim list`.

use serde::Serialize;

use super::args::ListArguments;
use super::{FINE, print, print_json};
use crate::subject;
use crate::world::Fault;

#[derive(Serialize)]
struct Listing {
    stores: Vec<Store>,
    faults: Vec<Named>,
}

#[derive(Serialize)]
struct Named {
    name: &'static str,
    about: &'static str,
}

#[derive(Serialize)]
struct Store {
    name: String,
    about: String,
    /// What it does wrong; null for those that are not broken on purpose.
    flaw: Option<String>,
}

pub(super) fn run(arguments: &ListArguments) -> Result<u8, String> {
    let stores: Vec<Store> = subject::catalogue()
        .iter()
        .map(|subject| Store {
            name: subject.name().to_owned(),
            about: subject.about().to_owned(),
            flaw: subject.flaw().map(str::to_owned),
        })
        .collect();
    if arguments.json {
        let name = |fault: &Fault| Named {
            name: fault.name(),
            about: fault.about(),
        };
        let faults = Fault::ALL.iter().map(name).collect();
        print_json(&Listing { stores, faults })?;
    } else {
        print("stores\n\n");
        for store in &stores {
            print(&format!("  {}\n      {}\n", store.name, store.about));
            if let Some(flaw) = &store.flaw {
                print(&format!("      broken: it {flaw}\n"));
            }
        }
        print("\nfaults\n\n");
        for fault in Fault::ALL {
            print(&format!("  {fault}\n      {}\n", fault.about()));
        }
    }
    Ok(FINE)
}
