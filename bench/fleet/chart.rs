//! The chart of calls per second at the actor, by the number of isolates.

use super::fleet::Setup;
use super::meter::Seen;
use std::fmt::Write;

const FLEETS: [usize; 7] = [1, 10, 30, 100, 300, 1_000, 2_000];

/// The size of each burst in seconds at the full rate, and the colour of its line.
const BURSTS: [(u64, &str); 3] = [(1, "#c2410c"), (5, "#0f766e"), (20, "#1d4ed8")];

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 700.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 350.0;

/// Draws the chart as SVG. Both axes are logarithmic.
pub fn draw(run: &dyn Fn(&Setup) -> Seen) -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"system-ui, sans-serif\" font-size=\"12\">\n\
         <title>Calls per second at the actor, by the number of isolates</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"18\" font-weight=\"600\">Calls per second at the actor of a global limit, at twice its rate of 20 requests per second and isolate</text>\n"
    );
    for exponent in 0..=4 {
        let (calls, y) = (10_u32.pow(exponent), y(10_f64.powi(exponent as i32)));
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{RIGHT}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{calls}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    for isolates in [1, 10, 100, 1_000] {
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{isolates}</text>",
            x(isolates as f64),
            BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">isolates</text>",
        (LEFT + RIGHT) / 2.0,
        BOTTOM + 38.0
    );
    let limit = y(1_000.0);
    let _ = writeln!(
        svg,
        "<path d=\"M{LEFT} {limit:.1}H{RIGHT}\" stroke=\"#b91c1c\" stroke-width=\"1.5\"/><text x=\"{:.1}\" y=\"{:.1}\" fill=\"#b91c1c\">what one Durable Object can serve</text>",
        LEFT + 8.0,
        limit - 6.0
    );
    for (place, (seconds, colour)) in BURSTS.into_iter().enumerate() {
        let mut path = String::new();
        for isolates in FLEETS {
            let rate = 20 * isolates as u64;
            let warm = (2 * seconds) as f64 + 3.0;
            let setup = Setup {
                isolates,
                rate,
                burst: rate * seconds,
                load: 2.0,
                seconds: warm + 4.0,
                warm,
                ..Setup::default()
            };
            let seen = run(&setup);
            let calls = (seen.calls as f64 / seen.seconds).max(1.0);
            let _ =
                write!(path, "{}{:.1} {:.1}", if path.is_empty() { "M" } else { "L" }, x(isolates as f64), y(calls));
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"/>",
                x(isolates as f64),
                y(calls)
            );
        }
        let _ = writeln!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"/>");
        // A busy isolate asks about once in half the tolerance.
        let ends =
            [1.0, 2_000.0].map(|isolates| (x(isolates), y((2.0 * isolates / seconds as f64).clamp(1.0, 10_000.0))));
        let begin = x(1.0_f64.max(seconds as f64 / 2.0));
        let _ = writeln!(
            svg,
            "<path d=\"M{begin:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-dasharray=\"4 4\"/>",
            y((2.0 / seconds as f64).max(1.0)),
            ends[1].0,
            ends[1].1
        );
        let label = 60.0 + 18.0 * place as f64;
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{label}\" fill=\"{colour}\">burst of {seconds} s (dashed: 2 × isolates / burst)</text>",
            LEFT + 12.0
        );
    }
    svg + "</svg>\n"
}

fn x(isolates: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * isolates.log10() / 2_000_f64.log10()
}

fn y(calls: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * calls.log10() / 4.0
}
