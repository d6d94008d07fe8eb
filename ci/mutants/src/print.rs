//! Prints a source with its edits, and remembers which bytes of the result belong to which mutant: that is how an
//! error of the compiler is traced to the mutant that does not compile.

/// A piece of what replaces an expression.
#[derive(Debug, Clone)]
pub enum Piece {
    /// Text of ours.
    Text(String),
    /// A part of the original, by bytes; edits inside it are applied.
    Source(usize, usize),
    /// What only this mutant runs.
    Arm(u32, Vec<Piece>),
}

/// Replaces a range of bytes. An empty range inserts.
#[derive(Debug)]
pub struct Edit {
    pub start: usize,
    pub end: usize,
    pub pieces: Vec<Piece>,
}

/// Bytes of the result; original text inside a site belongs to nobody.
#[derive(Debug)]
pub struct Region {
    pub start: usize,
    pub end: usize,
    pub owner: Option<u32>,
}

/// The source with its edits, and the regions.
pub fn print(source: &str, mut edits: Vec<Edit>) -> (String, Vec<Region>) {
    // Outer edits come before those inside them; an insertion comes before what begins where it stands.
    edits.sort_by(|a, b| {
        let inserts = a.start == a.end || b.start == b.end;
        let nesting = if inserts { a.end.cmp(&b.end) } else { b.end.cmp(&a.end) };
        a.start.cmp(&b.start).then(nesting)
    });
    let mut printer = Printer { source, edits: &edits, text: String::new(), regions: Vec::new() };
    printer.range(0, source.len(), 0);
    (printer.text, printer.regions)
}

struct Printer<'a> {
    source: &'a str,
    edits: &'a [Edit],
    text: String,
    regions: Vec<Region>,
}

impl Printer<'_> {
    /// Prints a range of the source with the edits inside it, from edit number `next` on.
    fn range(&mut self, start: usize, end: usize, mut next: usize) {
        let edits = self.edits;
        let mut at = start;
        while let Some(edit) = edits.get(next).filter(|edit| edit.start <= end) {
            next += 1;
            if edit.start < at || edit.end > end {
                continue;
            }
            self.text.push_str(&self.source[at..edit.start]);
            self.pieces(&edit.pieces, next);
            at = edit.end;
            while edit.end > edit.start && edits.get(next).is_some_and(|inner| inner.start < edit.end) {
                next += 1;
            }
        }
        self.text.push_str(&self.source[at..end]);
    }

    fn pieces(&mut self, pieces: &[Piece], next: usize) {
        for piece in pieces {
            let start = self.text.len();
            let owner = match piece {
                Piece::Text(text) => {
                    self.text.push_str(text);
                    continue;
                }
                Piece::Source(from, to) => {
                    self.range(*from, *to, next);
                    None
                }
                Piece::Arm(id, pieces) => {
                    self.pieces(pieces, next);
                    Some(*id)
                }
            };
            self.regions.push(Region { start, end: self.text.len(), owner });
        }
    }
}

/// The mutant that owns these bytes: the smallest region around them says it.
pub fn owner(regions: &[Region], start: usize, end: usize) -> Option<u32> {
    let around = regions.iter().filter(|region| region.start <= start && end <= region.end);
    around.min_by_key(|region| (region.end - region.start, region.owner.is_none()))?.owner
}
