//! The JSON forms of scores: what is written, byte by byte, and what is read back.

use ndarray::array;
use serde::{Deserialize, Serialize};
use unbraid_metrics::{
    Codes, Declare, Description, Metric, Needs, Options, POSITIVE, Registry, Report, Result, Score,
    ScoreValues, by_name,
};

/// Gives the same numbers whatever the codes are.
struct Fixed(Description, ScoreValues, (f64, usize));

impl Metric for Fixed {
    fn description(&self) -> Description {
        self.0.clone().needs(Needs::CODES)
    }

    fn declare_options(&mut self, declare: &mut Declare<'_>) {
        let (tolerance, bins) = &mut self.2;
        declare.number("tolerance", tolerance, POSITIVE, "nothing");
        declare.count("bins", bins, 1.., "nothing");
    }

    fn run(&self, _codes: &Codes, _options: &Options<'_>) -> Result<ScoreValues> {
        Ok(self.1.clone())
    }
}

/// Two metrics whose numbers show everything that a file can hold.
fn report() -> Report {
    let gap = ScoreValues::new("gap", 0.1)
        .with_list("gap_per_factor", vec![0.2, 0.0])
        .with_matrix("information", array![[0.5, 1e-7], [2.0, f64::NAN]]);
    let pair = ScoreValues::new("pair_train", f64::NAN)
        .with_number("pair_test", 1.0 / 3.0)
        .with_matrix("information", array![[9.0]]);
    let described = |name: &str, keys: &[&str]| {
        keys.iter().fold(Description::new(name, "fixed"), |description, key| description.number(*key, *key))
    };
    let registry = Registry::empty()
        .with(Fixed(described("gap", &["gap"]), gap, (1e-4, 20)))
        .and_then(|registry| {
            registry.with(Fixed(described("pair", &["pair_train", "pair_test"]), pair, (1e-4, 20)))
        })
        .unwrap();
    let codes = Codes::unlabelled(array![[0.0], [1.0]]).unwrap();
    let mut report = registry.run::<&str>(&[], &codes, &Options { seed: 7, ..Options::default() }).unwrap();
    report.scores[0].seconds = 0.25;
    report.scores[1].seconds = 3.0;
    report
}

const GAP: &str = concat!(
    r#"{"name":"gap","value":0.1,"parts":{"gap":0.1},"#,
    r#""details":{"information":[[0.5,1e-7],[2.0,null]],"gap_per_factor":[0.2,0.0]},"#,
    r#""parameters":{"bins":20,"tolerance":0.0001},"seed":7,"seconds":0.25}"#
);

const PAIR: &str = concat!(
    r#"{"name":"pair","value":null,"parts":{"pair_train":null,"pair_test":0.3333333333333333},"#,
    r#""details":{"information":[[9.0]]},"#,
    r#""parameters":{"bins":20,"tolerance":0.0001},"seed":7,"seconds":3.0}"#
);

/// As `scores.json` holds scores.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct ByName(#[serde(with = "by_name")] Report);

/// The same without details.
#[derive(Deserialize)]
#[serde(transparent)]
struct Numbers(#[serde(deserialize_with = "by_name::deserialize_numbers")] Report);

#[test]
fn a_report_is_one_flat_object() {
    let expected = r#"{
  "gap": 0.1,
  "pair_train": null,
  "pair_test": 0.3333333333333333,
  "details": {
    "information": [
      [
        0.5,
        1e-7
      ],
      [
        2.0,
        null
      ]
    ],
    "gap_per_factor": [
      0.2,
      0.0
    ]
  }
}"#;
    assert_eq!(serde_json::to_string_pretty(&report()).unwrap(), expected);
}

#[test]
fn scores_by_name_are_written_and_read_back_to_the_byte() {
    let text = format!(r#"{{"gap":{GAP},"pair":{PAIR}}}"#);
    assert_eq!(serde_json::to_string(&ByName(report())).unwrap(), text);
    let ByName(read) = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&ByName(read)).unwrap(), text);
}

#[test]
fn a_score_is_written_and_read_back_to_the_byte() {
    for (score, text) in report().scores.iter().zip([GAP, PAIR]) {
        assert_eq!(serde_json::to_string(score).unwrap(), text);
        let read: Score = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
    let pair: Score = serde_json::from_str(PAIR).unwrap();
    assert!(pair.value().is_nan());
    assert_eq!(pair.values.get("pair_test"), Some(1.0 / 3.0));
    assert_eq!(
        serde_json::from_str::<Score>(r#"{"parts":{"mig":1}}"#).unwrap_err().to_string(),
        "missing field `name` at line 1 column 19"
    );
}

/// As an older, a newer or a foreign program may have written it: sorted keys, no parameters, unknown metrics and fields.
const FOREIGN: &str = r#"{
    "fid": {"value": 3.5, "parts": {"fid": 3.5, "a_part": 1}, "details": {"fid_notes": {"images": 5}, "fid_text": "x"}},
    "dci": {"value": 0.1, "parts": {"dci_completeness": 0.2, "dci_disentanglement": 0.1, "extra": null}, "chance": 0.3,
            "details": {"dci_importance": [[1, 0], [0, 2]]}},
    "mig": {"parts": {"mig": 0.3}, "details": {"mig_per_factor": [0.1, 0.5], "ragged": [[1], [1, 2]]}, "seconds": 1}
}"#;

#[test]
fn scores_come_back_in_the_order_of_the_built_in_metrics() {
    let ByName(report) = serde_json::from_str(FOREIGN).unwrap();
    let names: Vec<&str> = report.scores.iter().map(|score| score.name.as_str()).collect();
    assert_eq!(names, ["mig", "dci", "fid"]);
    let keys = |name: &str| -> Vec<&str> {
        report.score(name).unwrap().values.numbers().iter().map(|(key, _)| key.as_str()).collect()
    };
    assert_eq!(keys("dci"), ["dci_disentanglement", "dci_completeness", "extra"]);
    assert_eq!(keys("fid"), ["fid", "a_part"]);
    assert_eq!((report.get("mig"), report.get("fid")), (Some(0.3), Some(3.5)));
    assert!(report.get("extra").unwrap().is_nan());
    assert_eq!(report.matrix("dci_importance").unwrap(), array![[1.0, 0.0], [0.0, 2.0]]);
    assert_eq!(report.list("mig_per_factor"), Some(&[0.1, 0.5][..]));
    for key in ["ragged", "fid_notes", "fid_text"] {
        assert!(report.matrix(key).is_none() && report.list(key).is_none(), "{key}");
    }
    assert_eq!(report.score("mig").unwrap().seconds, 1.0);
}

#[test]
fn numbers_alone_are_the_same_numbers() {
    let (ByName(all), Numbers(numbers)) =
        (serde_json::from_str(FOREIGN).unwrap(), serde_json::from_str(FOREIGN).unwrap());
    let listed = |report: &Report| -> Vec<String> {
        report.scores.iter().map(|score| format!("{} {:?}", score.name, score.values.numbers())).collect()
    };
    assert_eq!(listed(&all), listed(&numbers));
    for score in &numbers.scores {
        assert!(score.values.lists().is_empty() && score.values.matrices().is_empty());
    }
}
