//! Finds the expressions that the list names, by genre, line and column, and has each rewritten.

use std::collections::{HashMap, HashSet};

use proc_macro2::{LineColumn, Span};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Signature};

use crate::mutant::{Mutant, Place};
use crate::print::{Edit, Piece};
use crate::rewrite;

/// Why a mutant has no place in the build. A mutant without a remark is in it.
pub type Remarks = HashMap<u32, &'static str>;

/// The walk through one file.
pub struct Sites<'a> {
    pub source: &'a str,
    lines: Vec<usize>,
    mutants: &'a HashMap<Place, Vec<Mutant>>,
    dropped: &'a HashSet<u32>,
    pub edits: Vec<Edit>,
    pub remarks: Remarks,
    /// How deep the walk is in what is evaluated at compile time, or is a pattern: no mutant is chosen there at run time.
    constant: u32,
}

/// The edits of a file, and the remarks on its mutants.
pub fn find(
    source: &str,
    mutants: &HashMap<Place, Vec<Mutant>>,
    dropped: &HashSet<u32>,
) -> Result<(Vec<Edit>, Remarks), String> {
    let tree = syn::parse_file(source).map_err(|error| error.to_string())?;
    let mut lines = vec![0];
    lines.extend(source.match_indices('\n').map(|(index, _)| index + 1));
    let remarks = mutants.values().flatten().map(|mutant| (mutant.id, "not found")).collect();
    let mut sites = Sites { source, lines, mutants, dropped, edits: Vec::new(), remarks, constant: 0 };
    sites.visit_file(&tree);
    Ok((sites.edits, sites.remarks))
}

impl Sites<'_> {
    fn offset(&self, at: LineColumn) -> usize {
        let start = self.lines[at.line - 1];
        start + self.source[start..].chars().take(at.column).map(char::len_utf8).sum::<usize>()
    }

    /// The bytes of a node.
    pub fn range(&self, node: &impl Spanned) -> (usize, usize) {
        let span = node.span();
        (self.offset(span.start()), self.offset(span.end()))
    }

    /// The text of a node.
    pub fn text(&self, node: &impl Spanned) -> &str {
        let (start, end) = self.range(node);
        &self.source[start..end]
    }

    /// The mutants of a place that are to be in the build.
    pub fn at(&mut self, genre: &str, span: Span) -> Vec<Mutant> {
        let start = span.start();
        let Some(here) = self.mutants.get(&(genre.to_owned(), start.line, start.column + 1)) else { return Vec::new() };
        if self.constant > 0 {
            self.remark(here, "constant");
            return Vec::new();
        }
        for mutant in here {
            self.remarks.remove(&mutant.id);
        }
        here.iter().filter(|mutant| !self.dropped.contains(&mutant.id)).cloned().collect()
    }

    /// Says why mutants are left out.
    pub fn remark(&mut self, mutants: &[Mutant], why: &'static str) {
        self.remarks.extend(mutants.iter().map(|mutant| (mutant.id, why)));
    }

    /// Notes an edit.
    pub fn replace(&mut self, (start, end): (usize, usize), pieces: Vec<Piece>) {
        self.edits.push(Edit { start, end, pieces });
    }

    fn constant(&mut self, walk: impl FnOnce(&mut Self)) {
        self.constant += 1;
        walk(self);
        self.constant -= 1;
    }

    /// A function's own mutants, then its inside: a function within a constant runs at run time again.
    fn function(&mut self, signature: &Signature, block: &Block, walk: impl FnOnce(&mut Self)) {
        let around = std::mem::replace(&mut self.constant, u32::from(signature.constness.is_some()));
        rewrite::function(self, signature, block);
        walk(self);
        self.constant = around;
    }
}

impl<'ast> Visit<'ast> for Sites<'_> {
    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.constant(|sites| visit::visit_item_const(sites, item));
    }

    fn visit_impl_item_const(&mut self, item: &'ast syn::ImplItemConst) {
        self.constant(|sites| visit::visit_impl_item_const(sites, item));
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.constant(|sites| visit::visit_item_static(sites, item));
    }

    fn visit_type_array(&mut self, array: &'ast syn::TypeArray) {
        self.constant(|sites| visit::visit_type_array(sites, array));
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        self.constant(|sites| visit::visit_pat(sites, pattern));
    }

    fn visit_expr_repeat(&mut self, repeat: &'ast syn::ExprRepeat) {
        self.visit_expr(&repeat.expr);
        self.constant(|sites| sites.visit_expr(&repeat.len));
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig, &item.block, |sites| visit::visit_item_fn(sites, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig, &item.block, |sites| visit::visit_impl_item_fn(sites, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        match &item.default {
            Some(block) => self.function(&item.sig, block, |sites| visit::visit_trait_item_fn(sites, item)),
            None => visit::visit_trait_item_fn(self, item),
        }
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Binary(binary) => rewrite::binary(self, binary),
            Expr::Unary(unary) => rewrite::unary(self, unary),
            Expr::Struct(literal) => rewrite::fields(self, literal),
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        rewrite::arm(self, arm);
        visit::visit_arm(self, arm);
    }
}

/// The tokens of a node without white space.
pub fn tokens(node: &impl ToTokens) -> String {
    node.to_token_stream().to_string().replace(' ', "")
}
