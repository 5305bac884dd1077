//! The name that was probably meant.

/// The candidate that `name` is a slip of the finger away from, if there is one: a third of it may differ.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = folded(name);
    let measured = candidates
        .into_iter()
        .map(|candidate| (distance(&name, &folded(candidate)), candidate));
    let (steps, candidate) = measured.min_by_key(|(steps, _)| *steps)?;
    (steps <= name.len().max(3) / 3).then_some(candidate)
}

/// `max-depth`, `maxDepth` and `max_depth` are one name. Nobody types longer ones than are kept.
fn folded(name: &str) -> Vec<char> {
    let kept = name.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).take(64);
    kept.flat_map(char::to_lowercase).collect()
}

/// Characters to insert, remove or replace, with neighbours that changed places as one.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows: [Vec<usize>; 3] = [Vec::new(), Vec::new(), (0..=b.len()).collect()];
    for (i, x) in a.iter().enumerate() {
        rows.rotate_left(1);
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let at = |row: &[usize], j: usize| row.get(j).copied().unwrap_or(usize::MAX - 1);
            let [older, old, _] = &rows;
            let mut least = at(old, j) + usize::from(x != y);
            least = least.min(at(old, j + 1) + 1).min(at(&row, j) + 1);
            let swapped = j > 0 && i > 0 && a.get(i - 1) == Some(y) && b.get(j - 1) == Some(x);
            if swapped {
                least = least.min(at(older, j - 1) + 1);
            }
            row.push(least);
        }
        let [_, _, new] = &mut rows;
        *new = row;
    }
    let [_, _, last] = &rows;
    last.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const NAMES: [&str; 4] = ["max_depth", "max_money_spent", "theme", "sub_agent"];

    #[rstest]
    #[case("max_dpeth", Some("max_depth"))]
    #[case("maxDepth", Some("max_depth"))]
    #[case("max-money-spend", Some("max_money_spent"))]
    #[case("colour", None)]
    #[case("them", Some("theme"))]
    #[case("", None)]
    #[case("sub_agnet", Some("sub_agent"))]
    fn slips_of_the_finger_are_understood(#[case] written: &str, #[case] meant: Option<&str>) {
        assert_eq!(nearest(written, NAMES), meant);
    }

    #[test]
    fn a_name_without_end_costs_nothing() {
        assert_eq!(nearest(&"x".repeat(1_000_000), NAMES), None);
    }
}
