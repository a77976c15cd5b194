//! The one-way flow: a module uses only those declared above it in `src/lib.rs`.
#![allow(clippy::panic)] // how a test fails

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names that `lib.rs` re-exports, with their modules.
const RE_EXPORTED: &[(&str, &str)] = &[("Error", "error"), ("Result", "error"), ("Model", "model")];

#[test]
fn modules_use_only_those_above_them() {
    let map = map();
    let mut wrong = Vec::new();
    for (i, module) in map.iter().enumerate() {
        for (file, code) in sources(module) {
            for used in used_by(&file, module, &code, &map) {
                if !map[..=i].contains(&used) {
                    wrong.push(format!("{file} uses `{used}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "upward or unknown: {wrong:#?}");
}

#[test]
fn the_map_has_every_module() {
    let names = children(&source_folder()).into_iter().map(|path| stem(Path::new(&path)));
    let files: BTreeSet<String> = names.filter(|name| name != "lib").collect();
    assert_eq!(files, map().into_iter().collect());
}

#[test]
fn references_are_found_in_every_spelling() {
    let code = "
#[cfg(test)]
use crate::scoring;
use crate::kernels::{Isa, popcount};
use crate::{
    error::Error,
    model::{Model, bits::Row},
    threads,
};
fn f() -> crate::Result<()> {
    crate::encoding::cells(super::super::training::x) // crate::python
}
#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use crate::python;
}
";
    let names = ["error", "threads", "kernels", "encoding", "model", "training"];
    let map = names.map(str::to_owned);
    let found = used_by("src/model/bits.rs", "model", &without_tests(code), &map);
    assert_eq!(
        found.into_iter().collect::<Vec<_>>(),
        ["encoding", "error", "kernels", "model", "threads", "training"]
    );
}

/// Returns the modules that `src/lib.rs` declares, in its order.
fn map() -> Vec<String> {
    let path = format!("{}/lib.rs", source_folder());
    let code = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let declared = |line: &str| {
        let (_, name) = line.split_once("mod ")?;
        Some(name.strip_suffix(';')?.to_owned())
    };
    code.lines().filter(|line| !line.starts_with("//")).filter_map(declared).collect()
}

/// Returns every file of a module with its code, without test modules.
fn sources(module: &str) -> Vec<(String, String)> {
    let root = source_folder();
    let mut waiting = vec![format!("{root}/{module}"), format!("{root}/{module}.rs")];
    let mut found = Vec::new();
    while let Some(path) = waiting.pop() {
        if Path::new(&path).is_dir() {
            waiting.extend(children(&path));
        } else if let Ok(code) = fs::read_to_string(&path) {
            found.push((path, without_tests(&code)));
        }
    }
    found
}

/// Removes line comments and items under `#[cfg(test)]`, whose end rustfmt's layout shows.
fn without_tests(code: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        if line.trim() == "#[cfg(test)]" {
            let end = format!("{}}}", &line[..line.len() - line.trim_start().len()]);
            let item = lines.find(|line| !line.trim_start().starts_with("#["));
            if !item.is_some_and(|line| line.ends_with([';', '}'])) {
                lines.find(|line| line.starts_with(&end));
            }
        } else {
            kept.push(line.split("//").next().unwrap_or(""));
        }
    }
    kept.join("\n")
}

/// Returns the modules that a file uses, through `crate::` or, across modules, through `super::`.
fn used_by(file: &str, module: &str, code: &str, map: &[String]) -> BTreeSet<String> {
    let is_root = file.ends_with(&format!("src/{module}.rs"))
        || file.ends_with(&format!("src/{module}/mod.rs"));
    let up = if is_root { "super::" } else { "super::super::" };
    let known = |name: &String| map.contains(name);
    let mut used = after_each("crate::", code);
    used.extend(after_each(up, code).into_iter().filter(known));
    used
}

/// Returns the modules that follow each `prefix`, one name or a group in braces.
fn after_each(prefix: &str, code: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for after in code.split(prefix).skip(1) {
        match after.strip_prefix('{') {
            Some(group) => used.extend(first_names(group)),
            None => used.extend(first_name(after)),
        }
    }
    used.into_iter().map(|name| home(&name)).collect()
}

/// Returns the first name of each member of a group: `{a::b, c::{d, e}}` gives a and c.
fn first_names(group: &str) -> Vec<String> {
    let mut names = Vec::new();
    let (mut depth, mut start) = (0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                names.extend(first_name(&group[start..at]));
                start = at + 1;
            }
            _ => {}
        }
        if letter == '}' && start == at + 1 {
            break;
        }
    }
    names
}

fn first_name(path: &str) -> Option<String> {
    let name: String =
        path.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn home(name: &str) -> String {
    let found = RE_EXPORTED.iter().find(|(export, _)| *export == name);
    found.map_or(name, |(_, module)| module).to_owned()
}

fn source_folder() -> String {
    format!("{}/src", env!("CARGO_MANIFEST_DIR"))
}

fn children(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    entries.flatten().map(|entry| entry.path().to_string_lossy().into_owned()).collect()
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}
