//! Plots curves as an SVG string.

use std::fmt::Write;

/// Curves over a common axis; heights are from 0 to 1.
pub struct Plot<'a> {
    pub title: &'a str,
    /// The label of the horizontal axis.
    pub axis: &'a str,
    /// The x values of the points of every curve, ascending.
    pub at: &'a [f64],
    /// Names and heights, one for each point; points without a height are skipped.
    pub curves: &'a [(&'a str, Vec<Option<f64>>)],
    /// A point of the axis to mark, with its label.
    pub mark: Option<(f64, &'a str)>,
}

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 440.0;
/// Margins for the title, the axes and their labels.
const LEFT: f64 = 56.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 72.0;
const BOTTOM: f64 = 52.0;

/// Colours that are distinguishable with colour blindness, and dashes for printing without colours.
const STROKES: [(&str, &str); 4] = [("#0072b2", "8 4"), ("#d55e00", "2 3"), ("#000000", "none"), ("#009e73", "1 6")];

impl Plot<'_> {
    /// Renders the plot.
    pub fn svg(&self) -> String {
        let mut out = String::new();
        let mut line = |line: String| {
            out += &line;
            out.push('\n');
        };
        line(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
             font-family=\"sans-serif\" font-size=\"12\">"
        ));
        line(format!("<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>"));
        line(text(LEFT, 24.0, "start", 15, self.title));
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        for tenth in (0..=10).step_by(2) {
            let height = f64::from(tenth) / 10.0;
            line(rule((LEFT, self.y(height)), (right, self.y(height)), "#dddddd"));
            line(text(LEFT - 8.0, self.y(height) + 4.0, "end", 12, &format!("{height:.1}")));
        }
        for (at, label) in self.ticks() {
            line(rule((self.x(at), TOP), (self.x(at), bottom), "#eeeeee"));
            line(text(self.x(at), bottom + 18.0, "middle", 12, &label));
        }
        line(text((LEFT + right) / 2.0, HEIGHT - 12.0, "middle", 12, self.axis));
        if let Some((at, label)) = self.mark {
            line(rule((self.x(at), TOP), (self.x(at), bottom), "#888888"));
            // On the side of the line with more space.
            let room = self.x(at) < (LEFT + right) / 2.0;
            let (shift, anchor) = if room { (6.0, "start") } else { (-6.0, "end") };
            line(text(self.x(at) + shift, bottom - 8.0, anchor, 12, label));
        }
        let mut legend = LEFT;
        for ((name, heights), (colour, dashes)) in self.curves.iter().zip(STROKES.iter().cycle()) {
            let stroke = format!("fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" stroke-dasharray=\"{dashes}\"");
            let mut points = String::new();
            for (&at, &height) in self.at.iter().zip(heights) {
                let Some(height) = height else { continue };
                let gap = if points.is_empty() { "" } else { " " };
                // Writing to a string cannot fail.
                _ = write!(points, "{gap}{:.1},{:.1}", self.x(at), self.y(height));
            }
            line(format!("<polyline points=\"{points}\" {stroke}/>"));
            line(format!("<polyline points=\"{legend:.1},44.0 {:.1},44.0\" {stroke}/>", legend + 32.0));
            line(text(legend + 40.0, 48.0, "start", 12, name));
            legend += 64.0 + 7.0 * name.chars().count() as f64;
        }
        line("</svg>".into());
        out
    }

    /// The ends of the axis. They differ even if there is only one point, or none.
    fn ends(&self) -> (f64, f64) {
        match (self.at.first(), self.at.last()) {
            (Some(&first), Some(&last)) if first < last => (first, last),
            (Some(&first), _) => (first - 0.5, first + 0.5),
            _ => (0.0, 1.0),
        }
    }

    fn x(&self, at: f64) -> f64 {
        let (first, last) = self.ends();
        LEFT + (at - first) / (last - first) * (WIDTH - LEFT - RIGHT)
    }

    fn y(&self, height: f64) -> f64 {
        HEIGHT - BOTTOM - height * (HEIGHT - TOP - BOTTOM)
    }

    /// Round numbers along the axis: at most a dozen.
    fn ticks(&self) -> Vec<(f64, String)> {
        let (first, last) = self.ends();
        // In thousandths, so that every tick is exact.
        let steps = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
        let (first, last) = ((first * 1000.0).ceil() as i64, (last * 1000.0).floor() as i64);
        let Some(step) = steps.into_iter().find(|step| (last - first) / step < 12) else { return Vec::new() };
        let from = first.div_euclid(step) + i64::from(first.rem_euclid(step) > 0);
        (from..)
            .map(|n| n * step)
            .take_while(|&at| at <= last)
            .map(|at| at as f64 / 1000.0)
            .map(|at| (at, at.to_string()))
            .collect()
    }
}

fn rule(from: (f64, f64), to: (f64, f64), colour: &str) -> String {
    format!(
        "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\"/>",
        from.0, from.1, to.0, to.1
    )
}

fn text(x: f64, y: f64, anchor: &str, size: u32, text: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\">{}</text>", escaped(text))
}

/// Escapes text for content and attributes. Characters that XML does not allow become U+FFFD.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\t' | '\n' | '\r' => out.push(c),
            '\u{0}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(at: &[f64], heights: &[f64], mark: Option<(f64, &str)>) -> String {
        Plot {
            title: "a < b",
            axis: "threshold",
            at,
            curves: &[("F1", heights.iter().copied().map(Some).collect())],
            mark,
        }
        .svg()
    }

    #[test]
    fn a_curve_from_corner_to_corner() {
        let svg = plot(&[0.0, 0.5, 1.0], &[0.0, 0.5, 1.0], Some((0.5, "best")));
        // 56 to 696 across, 388 up to 72.
        assert!(svg.contains("<polyline points=\"56.0,388.0 376.0,230.0 696.0,72.0\""), "{svg}");
        assert!(svg.contains("<line x1=\"376.0\" y1=\"72.0\" x2=\"376.0\" y2=\"388.0\" stroke=\"#888888\"/>"));
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
        assert!(svg.contains(">a &lt; b</text>") && svg.contains(">best</text>") && svg.contains(">F1</text>"));
    }

    #[test]
    fn every_element_is_closed_and_every_number_finite() {
        for at in [&[][..], &[0.3], &[0.0, 32.0], &[0.995, 1.0], &[-2.0, 1e9]] {
            let svg = plot(at, &vec![0.5; at.len()], None);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            let lines: Vec<_> = svg.lines().collect();
            let inner = &lines[1..lines.len() - 1];
            assert!(inner.iter().all(|line| line.ends_with("/>") || line.ends_with("</text>")), "{svg}");
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        let ticks = |at: &[f64]| {
            let ticks = Plot { title: "", axis: "", at, curves: &[], mark: None }.ticks();
            ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(ticks(&[0.1, 1.0]), "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1");
        assert_eq!(ticks(&[0.0, 32.0]), "0 5 10 15 20 25 30");
        assert_eq!(ticks(&[0.97, 1.0]), "0.97 0.98 0.99 1");
        assert_eq!(ticks(&[3.0]), "2.5 2.6 2.7 2.8 2.9 3 3.1 3.2 3.3 3.4 3.5");
        assert_eq!(ticks(&[-2.0, 1e9]), "");
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(
            escaped("<a href=\"x\">&'\u{1}\u{ffff}</a>"),
            "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\u{fffd}\u{fffd}&lt;/a&gt;"
        );
    }
}
