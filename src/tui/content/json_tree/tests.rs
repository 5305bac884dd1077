//! Tests of the fold tree.

use proptest::prelude::*;

use super::*;

fn shown(tree: &JsonTree) -> String {
    tree.styled().0.text.as_str().to_owned()
}

#[test]
fn small_values_are_open() {
    let tree = JsonTree::new(r#"{"a": [1, "x"], "b": {}, "c": null}"#);
    assert_eq!(
        shown(&tree),
        "▾ {\n  ▾ \"a\": [\n      1,\n      \"x\"\n    ],\n    \"b\": {},\n    \"c\": null\n  }"
    );
}

#[test]
fn folding_and_unfolding_come_back() {
    let mut tree = JsonTree::new(r#"{"a": [1, {"x": 2}], "b": 3}"#);
    let open = shown(&tree);
    assert!(tree.toggle(1));
    assert_eq!(shown(&tree), "▾ {\n  ▸ \"a\": [1, {\"x\": 2}],\n    \"b\": 3\n  }");
    assert!(tree.toggle(1));
    assert!(tree.toggle(3));
    assert_eq!(shown(&tree), open);
    assert!(!tree.toggle(2));
    tree.fold_all();
    assert_eq!(tree.rows().len(), 4);
    tree.unfold_all();
    assert_eq!(shown(&tree), open);
}

#[test]
fn a_folded_value_tells_its_size() {
    let items: Vec<u32> = (0..300).collect();
    let tree = JsonTree::new(serde_json::to_string(&items).unwrap());
    assert!(shown(&tree).ends_with("… 300 items"), "{}", shown(&tree));
}

#[test]
fn long_arrays_come_in_pages() {
    let items: Vec<u32> = (0..1200).collect();
    let mut tree = JsonTree::new(serde_json::to_string(&items).unwrap());
    assert!(tree.toggle(0));
    assert_eq!(tree.rows().len(), 1 + 500 + 1 + 1);
    assert!(tree.toggle(501));
    assert!(tree.toggle(1001));
    assert_eq!(tree.rows().len(), 1 + 1200 + 1);
    assert!(shown(&tree).ends_with("    1199\n  ]"));
}

#[test]
fn pages_of_objects_keep_their_keys() {
    let members: serde_json::Map<_, _> = (0..600).map(|i| (format!("k{i}"), i.into())).collect();
    let mut tree = JsonTree::new(serde_json::to_string(&members).unwrap());
    tree.toggle(0);
    tree.toggle(501);
    assert!(shown(&tree).ends_with("    \"k599\": 599\n  }"));
}

#[test]
fn strings_of_several_lines_unfold() {
    let mut tree = JsonTree::new(r#"{"report": "one\ntwo \u00e9", "n": 1}"#);
    assert!(shown(&tree).contains(r#"▸ "report": "one\ntwo é","#));
    tree.toggle(1);
    let (styled, rows) = tree.styled();
    assert_eq!(
        styled.text.as_str(),
        "▾ {\n  ▾ \"report\": \n    │ one\n    │ two é,\n    \"n\": 1\n  }"
    );
    assert_eq!(rows, [0, 1, 1, 1, 2, 3]);
}

#[test]
fn depth_costs_nothing() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let mut tree = JsonTree::new(deep);
    let before = tree.rows().len();
    tree.unfold_all();
    assert!(tree.rows().len() > before);
    assert!(tree.styled().0.text.lines().all(|line| line.len() < 200));
}

#[test]
fn escapes_stay_escapes() {
    let tree = JsonTree::new("[\"\\u001b[31m\", \"\\u202e\"]");
    let text = shown(&tree);
    assert!(text.contains("\\u001b[31m"));
    assert!(!text.contains('\u{1b}'));
}

proptest! {
    #[test]
    fn any_text_and_any_folding(text in "[\\[\\]{}\",:a1\\\\n ]{0,40}", toggles in prop::collection::vec(0usize..20, 0..8)) {
        let mut tree = JsonTree::new(text);
        for index in toggles {
            tree.toggle(index);
        }
        let (styled, rows) = tree.styled();
        prop_assert_eq!(styled.text.lines().count(), rows.len());
    }
}
