//! The pages in a real browser: Debian's chromium without a window. Without it, the tests say that they skip;
//! `cargo xtask test` installs it where it may.

use crate::support::{Bench, devtools};
use serde_json::Value;
use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A browser whose every request goes to us.
struct Browser {
    program: PathBuf,
    profile: tempfile::TempDir,
    port: u16,
    requests: Arc<Mutex<Vec<String>>>,
}

/// What a page did.
struct Visit {
    /// The page after its scripts have run.
    dom: String,
    /// What it wrote to the console.
    console: Vec<String>,
}

impl Browser {
    fn find() -> Option<Self> {
        let program = devtools::program()?;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        // Ends with the process. Whoever connects is written down and gets no answer.
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.set_read_timeout(Some(Duration::from_secs(2)));
                let mut start = [0; 1024];
                let length = stream.read(&mut start).unwrap_or(0);
                let line = String::from_utf8_lossy(&start[..length]).lines().next().unwrap_or("").to_owned();
                seen.lock().unwrap().push(line);
            }
        });
        Some(Self { program, profile: tempfile::tempdir().unwrap(), port, requests })
    }

    fn visit(&self, page: &Path) -> Visit {
        self.requests.lock().unwrap().clear();
        let output = Command::new(&self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--enable-logging=stderr", "--window-size=1600,1000", "--timeout=20000", "--dump-dom"])
            .arg(format!("--user-data-dir={}", self.profile.path().display()))
            .arg(format!("--proxy-server=http://127.0.0.1:{}", self.port))
            .arg(format!("file://{}", page.canonicalize().unwrap().display()))
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let log = String::from_utf8_lossy(&output.stderr);
        let console = log.lines().filter(|line| line.contains(":CONSOLE")).map(str::to_owned).collect();
        Visit { dom: String::from_utf8(output.stdout).unwrap(), console }
    }

    /// Hosts that were asked for, but for those of the browser's maker, which it calls whatever the page.
    fn hosts(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let host = |line: &String| {
            let address = line.split(' ').nth(1)?.trim_start_matches("http://");
            Some(address.split(['/', ':']).next()?.to_owned())
        };
        let own = |host: &String| {
            ["google.com", "googleapis.com", "gstatic.com", "gvt1.com"].iter().any(|own| host.ends_with(own))
        };
        requests.iter().filter_map(host).filter(|host| !own(host)).collect()
    }

    /// Shows a page in a frame of this width, and gives what [`PROBE`] finds there.
    fn measure(&self, page: &Path, width: u32) -> Value {
        let text = fs::read_to_string(page).unwrap().replace('&', "&amp;").replace('"', "&quot;");
        let frame = page.with_file_name(format!("frame-{width}.html"));
        fs::write(
            &frame,
            format!(
                "<!DOCTYPE html><title></title><body><iframe style=\"border:0;width:{width}px;height:900px\" \
                 srcdoc=\"{text}\"></iframe><script>{PROBE}</script>"
            ),
        )
        .unwrap();
        let visit = self.visit(&frame);
        assert!(visit.console.is_empty(), "{:?}", visit.console);
        let title = visit.dom.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        serde_json::from_str(&title.replace("&amp;", "&")).unwrap_or_else(|error| panic!("{error}: {title}"))
    }
}

/// Once the frame is loaded, writes into the title how wide it is, how far its content hangs over, how many
/// pictures it has and how many of them are broken, its smallest letters in pixels, and what a chart shows
/// under the pointer.
const PROBE: &str = r##"
document.querySelector("iframe").addEventListener("load", (event) => {
  const frame = event.target, page = frame.contentDocument, view = frame.contentWindow;
  const images = [...page.images];
  const size = (element) => {
    const svg = element.closest("svg.chart");
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    return parseFloat(view.getComputedStyle(element).fontSize) * scale;
  };
  const words = [...page.querySelectorAll("p,td,th,dt,dd,figcaption,.label,.label span,pre,svg.chart text")];
  const chart = page.querySelector("svg[data-chart]");
  const box = chart.getBoundingClientRect();
  const point = { clientX: box.left + box.width * 0.7, clientY: box.top + 40, bubbles: true };
  chart.dispatchEvent(new view.PointerEvent("pointermove", point));
  const readout = page.getElementById("readout");
  const shown = readout.hidden ? "" : readout.textContent;
  const inside = readout.getBoundingClientRect();
  chart.dispatchEvent(new view.KeyboardEvent("keydown", { key: "Home", bubbles: true }));
  document.title = JSON.stringify({
    width: view.innerWidth,
    overhang: page.documentElement.scrollWidth - page.documentElement.clientWidth,
    images: images.length,
    broken: images.filter((image) => image.naturalWidth === 0 || image.clientWidth === 0).length,
    unnamed: images.filter((image) => image.alt === "").length,
    smallest: Math.min(...words.map(size)),
    charts: page.querySelectorAll("svg.chart").length,
    readout: shown,
    readoutInside: inside.left >= 0 && inside.right <= view.innerWidth,
    first: readout.textContent,
    headings: [...page.querySelectorAll("h2")].map((heading) => heading.textContent),
  });
  frame.remove();
});
"##;

/// What must hold for a page in a window as narrow as a phone and as wide as a desk. Under the pointer, its
/// first chart shows something that begins with `shown`, and at its beginning with `first`.
fn check(browser: &Browser, page: &Path, images: u64, (shown, first): (&str, &str), headings: &[&str]) {
    let visit = browser.visit(page);
    assert!(visit.console.is_empty(), "{:?}", visit.console);
    assert!(browser.hosts().is_empty(), "{:?}", browser.hosts());
    assert!(visit.dom.contains("id=\"readout\""), "the script has run");
    for width in [400, 1400] {
        let found = browser.measure(page, width);
        assert!(browser.hosts().is_empty(), "{:?}", browser.hosts());
        assert_eq!(found["width"], width);
        assert_eq!(found["overhang"], 0, "nothing hangs over the side at {width}: {found}");
        assert!(found["images"].as_u64().unwrap() >= images, "{found}");
        assert_eq!((&found["broken"], &found["unnamed"]), (&Value::from(0), &Value::from(0)), "{found}");
        assert!(found["smallest"].as_f64().unwrap() >= 9.5, "{found}");
        assert!(found["charts"].as_u64().unwrap() >= 3, "{found}");
        let readout = found["readout"].as_str().unwrap();
        assert!(
            !readout.is_empty() && readout.starts_with(shown) && found["readoutInside"] == true,
            "{found}"
        );
        assert!(found["first"].as_str().unwrap().starts_with(first), "{found}");
        for heading in headings {
            assert!(found["headings"].as_array().unwrap().iter().any(|h| h == heading), "{heading}: {found}");
        }
    }
}

#[test]
fn pages_work_in_a_browser_and_ask_nobody() {
    let Some(browser) = Browser::find() else { return };
    let bench = Bench::new();
    // What the test looks for is seen where it is.
    let bad = bench.path("bad.html");
    fs::write(&bad, "<img src=\"http://unbraid.invalid/a.png\"><script>console.error('seen')</script>")
        .unwrap();
    let visit = browser.visit(&bad);
    assert!(visit.console.iter().any(|line| line.contains("seen")), "{:?}", visit.console);
    assert_eq!(browser.hosts(), ["unbraid.invalid"]);

    for (name, beta) in [("one", "objective.beta=1"), ("two", "objective.beta=4")] {
        let metrics = "evaluation.metrics=[\"mig\", \"sap\", \"kl\"]";
        let more =
            ["--set", "evaluation.after_training=true", "--set", "evaluation.report=true", "--set", metrics];
        bench.train(name, &[&["--set", beta][..], &more].concat()).assert().success();
    }
    let headings = ["Latent traversals", "Scores", "Units and factors", "Images", "Training", "Latent space"];
    // The first row is logged at step 7.
    let steps = ("step ", "step 7");
    check(&browser, &bench.path("one/report.html"), 12, steps, &headings);

    bench.succeed(&["compare", "one", "two", "--quiet", "-o", "compare.html"], &[]);
    check(
        &browser,
        &bench.path("compare.html"),
        6,
        steps,
        &["Scores", "Settings that differ", "Latent traversals", "Training"],
    );
}

#[test]
fn the_page_of_a_study_works_in_a_browser_and_asks_nobody() {
    let Some(browser) = Browser::find() else { return };
    let bench = Bench::new();
    crate::support::table_study::write_directory(
        &bench.path("six"),
        &crate::support::table_study::table(&["shapes"], 3, 5),
    );
    bench.succeed(&["study", "report", "six", "--quiet"], &[]);
    let headings = [
        "Findings",
        "Scores by method",
        "Effect of the hyper-parameters",
        "Scores against reconstruction",
        "Best hyper-parameters",
        "Explained variance",
        "Agreement between scores",
        "Downstream accuracy",
    ];
    // The pointer is over the first or the second row, whatever the scale.
    check(&browser, &bench.path("six/report.html"), 0, ("", "beta-vaemedian"), &headings);
    let table = crate::support::table_study::table(&["shapes", "cars3d"], 3, 5);
    let html = unbraid_report::study_page("two data sets", table, &[]).unwrap();
    fs::write(bench.path("two.html"), html).unwrap();
    check(&browser, &bench.path("two.html"), 0, ("", "beta-vaemedian"), &["Scores by data set"]);
}
