//! The paths in a file that begin with `crate` or `super`.

use crate::tokens::Token;

/// A path from the crate's root, as it is written: `crate::a::b` is `["a", "b"]`; a glob ends with `*`.
pub(crate) type Path = Vec<String>;

/// All such paths, in `use` declarations and in code.
///
/// `module` is the path of the file from the root. Paths that begin with `self` or a plain name stay inside of the module and are
/// ignored.
pub(crate) fn paths(tokens: &[Token], module: &[String]) -> Vec<Path> {
    let mut here = module.to_vec();
    // The depth of braces at which each inline module began.
    let (mut depth, mut inline) = (0, Vec::new());
    let (mut found, mut i) = (Vec::new(), 0);
    while i < tokens.len() {
        match &tokens[i] {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') => {
                depth -= 1;
                if inline.last() == Some(&depth) {
                    inline.pop();
                    here.pop();
                }
            }
            Token::Word(word) if word == "mod" => {
                if let [_, Token::Word(name), Token::Mark('{'), ..] = &tokens[i..] {
                    inline.push(depth);
                    here.push(name.clone());
                }
            }
            Token::Word(word)
                if (word == "crate" || word == "super")
                    && tokens.get(i + 1) == Some(&Token::PathSeparator) =>
            {
                let start = if word == "crate" { Vec::new() } else { parent(&here) };
                i += 2;
                i += tree(&tokens[i..], &start, &mut found);
                continue;
            }
            _ => {}
        }
        i += 1;
    }
    found
}

fn parent(module: &[String]) -> Path {
    module[..module.len().saturating_sub(1)].to_vec()
}

/// Reads `a::b`, `a::{b, c::d}` or `a::*` after a prefix. Returns the number of tokens read.
pub(crate) fn tree(tokens: &[Token], prefix: &[String], found: &mut Vec<Path>) -> usize {
    let mut path = prefix.to_vec();
    let mut i = 0;
    loop {
        match tokens.get(i) {
            Some(Token::Word(word)) if word == "super" => path = parent(&path),
            Some(Token::Word(word)) if word == "self" => {}
            Some(Token::Word(word)) => path.push(word.clone()),
            Some(Token::Mark('*')) => path.push("*".into()),
            Some(Token::Mark('{')) => {
                i += 1;
                while let Some(token) = tokens.get(i) {
                    if token.is('}') {
                        return i + 1;
                    }
                    let read = match token {
                        Token::Word(_) | Token::Mark('{' | '*') => tree(&tokens[i..], &path, found),
                        _ => 0,
                    };
                    i += read.max(1);
                }
                return i;
            }
            _ => return i,
        }
        i += 1;
        // `::<` in an expression ends a path as well.
        let goes_on = matches!(
            tokens.get(i..i + 2),
            Some([Token::PathSeparator, Token::Word(_) | Token::Mark('{' | '*')])
        );
        if !goes_on {
            found.push(path);
            // Skip `as name`.
            let is_renamed = tokens.get(i).is_some_and(|token| token.is_word("as"));
            return i + if is_renamed { 2 } else { 0 };
        }
        i += 1;
    }
}

/// The names imported in the root, with their paths: `pub use a::{B, c as D}` gives `B` for `a::B` and `D` for `a::c`.
pub(crate) fn names_of_root(tokens: &[Token]) -> Vec<(String, Path)> {
    let mut names = Vec::new();
    let starts = (0..tokens.len()).filter(|&i| tokens[i].is_word("use"));
    for start in starts {
        let end = tokens[start..].iter().position(|token| token.is(';'));
        let declaration = &tokens[start + 1..start + end.unwrap_or(1)];
        let mut found = Vec::new();
        tree(declaration, &[], &mut found);
        let renamed = declaration.windows(3).filter_map(|three| match three {
            [Token::Word(old), Token::Word(by), Token::Word(new)] if by == "as" => {
                Some((old.clone(), new.clone()))
            }
            _ => None,
        });
        let renamed: Vec<(String, String)> = renamed.collect();
        for path in found {
            let path: Path = path.into_iter().filter(|word| word != "crate").collect();
            let Some(last) = path.last().cloned() else { continue };
            let new = renamed.iter().find(|(old, _)| *old == last).map(|(_, new)| new.clone());
            names.push((new.unwrap_or(last), path));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn found(source: &str, module: &[&str]) -> Vec<String> {
        let module: Vec<String> = module.iter().map(|&word| word.to_owned()).collect();
        paths(&tokens(source), &module).iter().map(|path| path.join("::")).collect()
    }

    #[test]
    fn braces_nest() {
        let source = "use crate::{a, b::{self, c::*, D as E}, f}; use std::x;";
        assert_eq!(found(source, &["m"]), ["a", "b", "b::c::*", "b::D", "f"]);
    }

    #[test]
    fn parents_are_found() {
        assert_eq!(found("use super::x::Y;", &["a", "b"]), ["a::x::Y"]);
        assert_eq!(found("use super::super::{z, y::W};", &["a", "b"]), ["z", "y::W"]);
        let inline = "mod c { use super::d; } use super::e;";
        assert_eq!(found(inline, &["a"]), ["a::d", "e"]);
    }

    #[test]
    fn paths_in_code_count() {
        let source = "fn f() -> crate::a::B { crate::c::d::<u8>(super::e) } pub(crate) struct G;";
        assert_eq!(found(source, &["m", "n"]), ["a::B", "c::d", "m::e"]);
    }

    #[test]
    fn imports_of_the_root_are_found() {
        let root = "pub use a::{B, c as D}; pub(crate) use crate::e::f; use g::H;";
        let names = names_of_root(&tokens(root));
        let names: Vec<String> =
            names.iter().map(|(name, path)| format!("{name} = {}", path.join("::"))).collect();
        assert_eq!(names, ["B = a::B", "D = a::c", "f = e::f", "H = g::H"]);
    }
}
