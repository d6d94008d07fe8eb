//! What each kind of mutant becomes. Operands are evaluated once, by a `match` around the choice: written into every
//! arm, nested expressions would grow exponentially. A `match` and not a `let`, so that temporaries live as long as
//! they do in the original. The original comes first, so that types are inferred from it.

use syn::{BinOp, Block, Expr, Signature};

use crate::mutant::Mutant;
use crate::print::Piece::{self, Arm, Source};
use crate::site::{Sites, tokens};

/// cargo-mutants leaves this in its replacements; nested in a line of ours it only makes noise.
const MARK: &str = "/* ~ changed by cargo-mutants ~ */";

fn text(text: impl Into<String>) -> Piece {
    Piece::Text(text.into())
}

fn operator(mutant: &Mutant) -> String {
    mutant.replacement.replace(MARK, "").trim().to_owned()
}

fn ids(mutants: &[Mutant]) -> String {
    mutants.iter().map(|mutant| mutant.id.to_string()).collect::<Vec<_>>().join(",")
}

/// The original unless one of the mutants is active.
fn select(mutants: &[Mutant], original: Piece, arm: impl Fn(&Mutant) -> String) -> Vec<Piece> {
    let none = mutants.iter().map(|mutant| format!("__m != {}", mutant.id)).collect::<Vec<_>>().join(" && ");
    let mut pieces = vec![text(format!("{{ let __m = crate::mutant::at(&[{}]); if {none} {{ ", ids(mutants)))];
    pieces.extend([original, text(" }")]);
    for (index, mutant) in mutants.iter().enumerate() {
        let last = index + 1 == mutants.len();
        pieces.push(text(if last { " else { ".to_owned() } else { format!(" else if __m == {} {{ ", mutant.id) }));
        pieces.extend([Arm(mutant.id, vec![text(arm(mutant))]), text(" }")]);
    }
    pieces.push(text(" }"));
    pieces
}

/// A function that returns something else: an early return, or for `impl Iterator` one of two iterators.
pub fn function(sites: &mut Sites, signature: &Signature, block: &Block) {
    let Some(first) = block.stmts.first() else { return };
    let mutants = sites.at("FnValue", syn::spanned::Spanned::span(first));
    if mutants.is_empty() {
        return;
    }
    let (start, end) = sites.range(block);
    let output = &signature.output;
    let mut pieces = Vec::new();
    if matches!(output, syn::ReturnType::Type(_, output) if matches!(**output, syn::Type::ImplTrait(_))) {
        pieces.push(text("{ "));
        for Mutant { id, replacement } in &mutants {
            pieces.push(text(format!("if crate::mutant::on({id}) {{ crate::mutant::Either::L(")));
            pieces.push(Arm(*id, vec![text(replacement)]));
            pieces.push(text(") } else { crate::mutant::Either::R("));
        }
        pieces.push(Source(start, end));
        pieces.push(text(") }".repeat(mutants.len()) + " }"));
        sites.replace((start, end), pieces);
    } else {
        pieces.push(text(format!(" match crate::mutant::at(&[{}]) {{ ", ids(&mutants))));
        for Mutant { id, replacement } in &mutants {
            pieces.push(text(format!("{id} => {{ ")));
            pieces.extend([Arm(*id, vec![text(format!("return {replacement};"))]), text(" } ")]);
        }
        pieces.push(text("_ => {} } "));
        sites.replace((start + 1, start + 1), pieces);
    }
}

/// `-x` and `!x` without their operator.
pub fn unary(sites: &mut Sites, unary: &syn::ExprUnary) {
    let mutants = sites.at("UnaryOperator", syn::spanned::Spanned::span(&unary.op));
    if mutants.is_empty() {
        return;
    }
    let (start, end) = sites.range(&*unary.expr);
    let original = text(format!("{}__left", tokens(&unary.op)));
    let mut pieces = vec![text("(match ("), Source(start, end), text(") { __left => ")];
    pieces.extend(select(&mutants, original, |_| "__left".to_owned()));
    pieces.push(text(" })"));
    sites.replace(sites.range(unary), pieces);
}

/// A field left out of a literal with a base takes the value of the base.
pub fn fields(sites: &mut Sites, literal: &syn::ExprStruct) {
    let Some(rest) = &literal.rest else { return };
    for field in &literal.fields {
        let mutants = sites.at("StructField", syn::spanned::Spanned::span(&field.member));
        let Some(Mutant { id, .. }) = mutants.first() else { continue };
        let base = match sites.text(&**rest) {
            "Default::default()" => format!("<{} as Default>::default()", sites.text(&literal.path)),
            other => format!("({other})"),
        };
        let name = tokens(&field.member);
        let (start, end) = sites.range(&field.expr);
        let original = [text(format!("{name}: if !crate::mutant::on({id}) {{ ")), Source(start, end)];
        let mutated = [text(" } else { "), Arm(*id, vec![text(format!("{base}.{name}"))]), text(" }")];
        sites.replace(sites.range(field), original.into_iter().chain(mutated).collect());
    }
}

/// An arm that is deleted never matches; a guard becomes a constant.
pub fn arm(sites: &mut Sites, arm: &syn::Arm) {
    let deleted = sites.at("MatchArm", syn::spanned::Spanned::span(arm));
    let not_deleted = |id| format!("!crate::mutant::on({id})");
    let Some((_, guard)) = &arm.guard else {
        let Some(Mutant { id, .. }) = deleted.first() else { return };
        let (_, end) = sites.range(&arm.pat);
        sites.replace((end, end), vec![Arm(*id, vec![text(format!(" if {}", not_deleted(id)))])]);
        return;
    };
    let guards = sites.at("MatchArmGuard", syn::spanned::Spanned::span(guard));
    if deleted.is_empty() && guards.is_empty() {
        return;
    }
    let (start, end) = sites.range(&**guard);
    let mut pieces = vec![text("(")];
    pieces.extend(deleted.iter().map(|mutant| text(not_deleted(&mutant.id) + " && ")));
    if guards.is_empty() {
        pieces.extend([text("("), Source(start, end), text(")")]);
    } else {
        pieces.extend(select(&guards, Source(start, end), |mutant| mutant.replacement.clone()));
    }
    pieces.push(text(")"));
    sites.replace((start, end), pieces);
}

fn has_let(expression: &Expr) -> bool {
    match expression {
        Expr::Let(_) => true,
        Expr::Binary(binary) if matches!(binary.op, BinOp::And(_)) => has_let(&binary.left) || has_let(&binary.right),
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}

/// An operator becomes another. Comparisons borrow their operands, as they do in the language, and assignments borrow
/// their place; `&&` and `||` must not evaluate the right side too early.
pub fn binary(sites: &mut Sites, binary: &syn::ExprBinary) {
    let mutants = sites.at("BinaryOperator", syn::spanned::Spanned::span(&binary.op));
    if mutants.is_empty() {
        return;
    }
    let ((start, left), (right, end)) = (sites.range(&*binary.left), sites.range(&*binary.right));
    let (left, right) = (Source(start, left), Source(right, end));
    let op = tokens(&binary.op);
    let (opening, between, bound, end_of_match) = match &binary.op {
        BinOp::And(_) | BinOp::Or(_) => {
            if has_let(&binary.left) || has_let(&binary.right) {
                return sites.remark(&mutants, "let chain");
            }
            let (wanted, stop) = if op == "&&" { ("||", "!=") } else { ("&&", "==") };
            let (good, other): (Vec<_>, Vec<_>) = mutants.into_iter().partition(|mutant| operator(mutant) == wanted);
            sites.remark(&other, "other operator");
            let Some(Mutant { id, .. }) = good.first() else { return };
            let choice = text(format!("; if __left {stop} crate::mutant::on({id}) {{ "));
            let pieces = vec![text("({ let __left: bool = "), left, choice, right, text(" } else { __left } })")];
            return sites.replace((start, end), pieces);
        }
        BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
            ("(match (&(", "), &(", ")) { (__left, __right) => ", ("*__left", "*__right", " })"))
        }
        _ if op.ends_with('=') => {
            let mut pieces = vec![text("(match ("), right, text(") { __right => match &mut ("), left];
            pieces.push(text(") { __left => "));
            let original = text(format!("*__left {op} __right"));
            pieces.extend(select(&mutants, original, |mutant| format!("*__left {} __right", operator(mutant))));
            pieces.push(text(" } })"));
            return sites.replace((start, end), pieces);
        }
        _ => ("(match ((", "), (", ")) { (__left, __right) => ", ("__left", "__right", " })")),
    };
    let (first, second, closing) = end_of_match;
    let mut pieces = vec![text(opening), left, text(between), right, text(bound)];
    let original = text(format!("{first} {op} {second}"));
    pieces.extend(select(&mutants, original, |mutant| format!("{first} {} {second}", operator(mutant))));
    pieces.push(text(closing));
    sites.replace((start, end), pieces);
}
