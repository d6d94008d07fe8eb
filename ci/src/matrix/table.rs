//! Rows and columns.

use std::collections::BTreeMap;
use std::fmt;

/// What the checks said about each defect.
#[derive(Debug, Default)]
pub struct Table {
    /// Ids of the checks, in the catalogue's order.
    columns: Vec<String>,
    rows: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    defect: String,
    owner: String,
    companions: Vec<String>,
    /// Ruling by check.
    rulings: BTreeMap<String, String>,
}

impl Table {
    /// Reads the columns (`id<TAB>name` a line) and the rows (`defect<TAB>owner<TAB>companions<TAB>id=RULING,...`). Rows are
    /// ordered by their owner's place in the catalogue, the sound service first.
    pub fn parse(columns: &str, rows: &[String]) -> Result<Self, String> {
        let columns: Vec<_> = columns.lines().map(|line| line.split('\t').next().unwrap_or(line).to_owned()).collect();
        let mut rows = rows.iter().flat_map(|text| text.lines()).map(row).collect::<Result<Vec<_>, _>>()?;
        let place = |owner: &str| columns.iter().position(|id| id == owner).map_or(0, |at| at + 1);
        rows.sort_by(|a, b| (place(&a.owner), &a.defect).cmp(&(place(&b.owner), &b.defect)));
        Ok(Self { columns, rows })
    }

    /// How many defects there are.
    pub fn defects(&self) -> usize {
        self.rows.iter().filter(|row| row.owner != "-").count()
    }

    /// How many checks there are.
    pub fn checks(&self) -> usize {
        self.columns.len()
    }
}

fn row(line: &str) -> Result<Row, String> {
    let cells: Vec<_> = line.split('\t').collect();
    let [defect, owner, companions, rulings] = cells[..] else { return Err(format!("`{line}` has not four cells")) };
    let list = |text: &str| text.split(',').filter(|it| !it.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let mut by_check = BTreeMap::new();
    for ruling in list(rulings) {
        let (check, word) = ruling.split_once('=').ok_or_else(|| format!("`{ruling}` is not CHECK=RULING"))?;
        by_check.insert(check.to_owned(), word.to_owned());
    }
    Ok(Row { defect: defect.to_owned(), owner: owner.to_owned(), companions: list(companions), rulings: by_check })
}

impl Row {
    fn cell(&self, check: &str) -> char {
        match self.rulings.get(check).map(String::as_str) {
            None => ' ',
            Some("PASS") => '.',
            Some("INCONCLUSIVE") => '?',
            Some(_) if check == self.owner => 'F',
            Some(_) if self.companions.iter().any(|it| it == check) => 'f',
            Some(_) => '!',
        }
    }
}

impl fmt::Display for Table {
    /// Ids stand over their columns, one character below the other, so that forty checks fit a page.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.rows.iter().map(|row| row.defect.len()).max().unwrap_or(0).max("defect".len());
        let deep = self.columns.iter().map(String::len).max().unwrap_or(0);
        for depth in 0..deep {
            let last = depth + 1 == deep;
            write!(f, "{:name$}  {:5}", if last { "defect" } else { "" }, if last { "owner" } else { "" })?;
            for id in &self.columns {
                write!(f, " {}", id.chars().nth(depth).unwrap_or(' '))?;
            }
            writeln!(f)?;
        }
        for row in &self.rows {
            let cells: String = self.columns.iter().flat_map(|id| [' ', row.cell(id)]).collect();
            writeln!(f, "{:name$}  {:5}{}", row.defect, row.owner, cells.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Proves every sign of the legend, the order of the rows, and that ids are read downwards.
    #[test]
    fn the_signs_mean_what_the_legend_says() {
        let columns = "R1\tBoundedAttempts\nR12\tSamePayload\nB4\tHalfOpenSingleProbe\n";
        let rows = [
            "many-probes\tB4\t\tR1=PASS,B4=FAIL\n".to_owned(),
            "two-bodies\tR12\tR1\tR1=FAIL,R12=FAIL,B4=FAIL\n".to_owned(),
            "sound\t-\t\tR1=PASS,R12=INCONCLUSIVE,B4=PASS\n".to_owned(),
        ];
        let table = Table::parse(columns, &rows).expect("well formed");
        assert_eq!((table.defects(), table.checks()), (2, 3));
        let expected = [
            "                   R R B",
            "                   1 1 4",
            "defect       owner   2",
            "sound        -     . ? .",
            "two-bodies   R12   f F !",
            "many-probes  B4    .   F",
        ];
        let text = table.to_string();
        assert_eq!(text.lines().map(str::trim_end).collect::<Vec<_>>(), expected);
        assert!(Table::parse(columns, &["x\ty\n".to_owned()]).is_err());
        assert!(Table::parse(columns, &["x\tR1\t\tR1\n".to_owned()]).is_err());
    }
}
