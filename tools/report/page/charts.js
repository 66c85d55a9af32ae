// Charts: uPlot, with this page's colours, controls and number formats.
"use strict";

const Charts = (() => {
  const all = new Set(); // charts on the page, to be drawn again in other colours

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colorOf = (norm) => color(`--norm-${norm}`) || color("--norm-other");

  // What a curve of the paper is called among the labels that are hidden.
  const paperKey = (curve) => `paper: ${curve.label}`;

  const raised = (n) => String(n).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  const power = (value) => "10" + raised(Math.round(Math.log10(value)));
  function number(value, digits = 4) {
    if (value == null) return "–";
    if (Number.isInteger(value) && Math.abs(value) < 1e6) return String(value); // counts are read exactly
    const text = String(Number(value.toPrecision(digits)));
    const short = /e/.test(text) || (value !== 0 && Math.abs(value) < 1e-3) || Math.abs(value) >= 1e6;
    if (!short) return text;
    const [front, exponent] = Number(value.toPrecision(digits)).toExponential().split("e");
    return (front === "1" ? "" : front === "-1" ? "-" : front + " × ") + "10" + raised(Number(exponent));
  }

  // A log axis has no place for what is not above 0; null is a gap.
  const drawable = (values, log) => (log ? values.map((v) => (v > 0 ? v : null)) : values);

  // Means over `width` points around each; gaps stay gaps.
  function smoothed(values, width) {
    if (width < 2) return values;
    const half = (width - 1) / 2;
    return values.map((value, i) => {
      if (value === null) return null;
      const near = values.slice(Math.max(0, i - half), i + half + 1).filter((v) => v !== null);
      return near.reduce((sum, v) => sum + v, 0) / near.length;
    });
  }

  function dataOf(chart, logX, logY, smooth) {
    return uPlot.join(chart.curves.map(({ x, y }) => {
      const keep = x.map((v) => v !== null && (!logX || v > 0));
      return [x.filter((_, i) => keep[i]), drawable(smoothed(y, smooth), logY).filter((_, i) => keep[i])];
    }));
  }

  // A curve of the paper at x, on the line between two of its points; null beyond its ends and in gaps.
  function valueAt({ x: xs, y: ys }, x) {
    const after = xs.findIndex((each) => each !== null && each >= x);
    if (xs[after] === x) return ys[after];
    if (after < 1 || xs[after - 1] === null) return null;
    const [x0, x1, y0, y1] = [xs[after - 1], xs[after], ys[after - 1], ys[after]];
    return y0 + ((y1 - y0) * (x - x0)) / (x1 - x0);
  }

  // The ends of an x axis: those of the data; around a single point, what makes its place clear.
  function rangeOfX(min, max, log) {
    if (min === null) return [min, max];
    if (min < max) return log ? uPlot.rangeLog(min, max, 10, false) : [min, max];
    if (log) return [min / 10, max * 10];
    return min > 0 ? [0, 2 * min] : [min - 1, max + 1];
  }

  // Marks of a log axis: at most some eight powers of ten, or 1, 2 and 5 of each where it spans few. (uPlot's own never
  // end below 1e-32, where a vanishing gradient soon is.)
  function decades(min, max) {
    const first = Math.floor(Math.log10(min)), last = Math.ceil(Math.log10(max));
    const stride = Math.ceil((last - first) / 8), digits = last - first > 2 ? [1] : [1, 2, 5];
    const marks = [];
    for (let power = first; power <= last; power += stride) marks.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    const shown = marks.filter((mark) => mark >= min && mark <= max);
    return shown.length > 1 ? shown : evenly(min, max);
  }

  // Marks at equal distances, some three to ten.
  function evenly(min, max) {
    const power = 10 ** Math.floor(Math.log10(max - min));
    const step = [1, 0.5, 0.2].map((part) => part * power).find((each) => (max - min) / each >= 3);
    const marks = [];
    for (let i = Math.ceil(min / step - 1e-6); i * step <= max + 1e-6 * step; ++i) marks.push(Number((i * step).toPrecision(12)));
    return marks;
  }

  // The numbers at an axis' marks, with as many digits as tell neighbours apart.
  function labels(marks) {
    const closest = Math.min(...marks.slice(1).map((mark, i) => mark - marks[i]));
    const digits = Math.ceil(Math.log10(Math.max(...marks.map(Math.abs)) / closest)) + 2;
    return marks.map((mark) => number(mark, Math.min(Math.max(digits, 4), 15) || 4));
  }

  function axis(label, log, extra) {
    return {
      ...(log && { splits: (_, __, min, max) => decades(min, max), filter: (_, splits) => splits }),
      label, labelSize: 20, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      stroke: color("--faint"), labelGap: 2,
      grid: { stroke: color("--grid"), width: 1 }, ticks: { stroke: color("--grid"), width: 1, size: 5 },
      values: (_, splits) => (log && splits.at(-1) / splits[0] > 1e4 ? splits.map(power) : labels(splits)),
      ...extra,
    };
  }

  // The values under the cursor, in the corner away from it: of many curves those nearest to it.
  class Readout {
    constructor(plot) {
      this.box = Parts.make("div", { class: "readout", "aria-hidden": "true" });
      plot.over.append(this.box);
    }

    follow(u, curves, papers) {
      const { idx, left, top } = u.cursor, most = 8;
      this.box.hidden = idx == null || left < 0;
      if (this.box.hidden) return;
      const known = curves.map((curve, i) => ({ curve, value: u.data[i + 1][idx], shown: u.series[i + 1].show }))
        .filter(({ value, shown }) => shown && value != null);
      const near = known.map((each) => ({ ...each, distance: Math.abs(u.valToPos(each.value, "y") - top) })).sort((a, b) => a.distance - b.distance).slice(0, most);
      this.box.replaceChildren(Parts.make("div", {}, `${u.series[0].label} ${number(u.data[0][idx])}`),
        ...near.sort((a, b) => b.value - a.value).map(({ curve, value }) =>
          Parts.make("div", {}, Parts.swatch(curve.norm || "other", curve.dash), `${curve.label} `, Parts.make("b", {}, number(value)))),
        ...(known.length > most ? [Parts.make("div", {}, `and ${known.length - most} more`)] : []),
        ...(known.length > most ? [] : papers).map((curve) => ({ curve, value: valueAt(curve, u.data[0][idx]) })).filter(({ value }) => value !== null).map(({ curve, value }) =>
          Parts.make("div", {}, Parts.paperSwatch(curve.norm), `paper, ${curve.label} `, Parts.make("b", {}, number(value)))));
      this.box.classList.toggle("at-left", left > u.over.clientWidth / 2);
    }
  }

  // A chart in a box of its own. `choices` are those of the whole exhibit: the labels that are hidden, and over how many
  // points curves are smoothed; `state` keeps what the reader chose (scales, zoom) when the chart is made again.
  class Chart {
    constructor(box, chart, group, choices, state) {
      Object.assign(this, { box, chart, group, choices, hidden: choices.hidden, state });
      state.logX ??= chart.log_x;
      state.logY ??= chart.log_y;
      all.add(this);
      this.resize = new ResizeObserver(() => {
        if (this.plot && this.width() !== this.plot.width) this.plot.setSize({ width: this.width(), height: this.height() });
      });
      this.resize.observe(box);
      this.draw();
    }

    width() { return Math.max(220, Math.floor(this.box.clientWidth)); }
    height() { return Math.round(Math.min(320, Math.max(220, 0.62 * this.width()))); }

    draw() {
      this.plot?.destroy();
      const { chart, state } = this;
      const keepZoom = () => { if (this.plot) state.zoom = this.zoomed ? { x: this.range("x"), y: this.range("y") } : null; };
      this.plot = new uPlot({
        width: this.width(), height: this.height(),
        cursor: {
          drag: { x: true, y: true, uni: 20 }, focus: { prox: 24 },
          sync: { key: this.group, scales: ["x", null] }, points: { size: 7 },
        },
        focus: { alpha: 0.35 },
        legend: { show: false },
        scales: {
          x: { time: false, distr: state.logX ? 3 : 1, range: (_, min, max) => (this.zoomed ? [min, max] : rangeOfX(...this.withPaper("x", min, max), state.logX)) },
          y: { distr: state.logY ? 3 : 1, ...((chart.curves.some((curve) => curve.low) || this.levels().length > 0 || this.paperCurves().length > 0) && { range: (_, min, max) => (this.zoomed ? [min, max] : this.rangeOfY(min, max)) }) },
        },
        axes: [axis(chart.x, state.logX, { size: 30, space: 56 }), axis(chart.y, state.logY, { size: 58, space: 30 })],
        series: [
          { label: chart.x, value: (_, v) => number(v) },
          ...chart.curves.map((curve) => ({
            label: curve.label, stroke: colorOf(curve.norm), width: 2, dash: Parts.dashOf(curve.dash),
            points: curve.y.filter((value) => value !== null).length === 1 ? { show: true, size: 10, fill: colorOf(curve.norm) } : { size: 5 }, show: !this.hidden.has(curve.label), value: (_, v) => number(v),
          })),
        ],
        hooks: {
          drawAxes: [(u) => { this.inside(u, () => { this.drawBands(u); this.drawPaperCurves(u); this.drawPaper(u); }); }],
          setCursor: [(u) => this.readout.follow(u, chart.curves, this.paperCurves())],
          setSelect: [(u) => { this.zoomed = u.select.width > 0 || u.select.height > 0; }], setScale: [keepZoom] },
      }, this.data(), this.box);
      this.readout = new Readout(this.plot);
      this.plot.over.addEventListener("dblclick", () => { this.zoomed = false; });
      if (state.zoom) this.setRanges(state.zoom);
    }

    data() { return dataOf(this.chart, this.state.logX, this.state.logY, this.choices.smooth); }

    setRanges(ranges) {
      this.zoomed = true;
      const drawable = { x: !this.state.logX || ranges.x.min > 0, y: !this.state.logY || ranges.y.min > 0 };
      this.plot.batch(() => { for (const key of ["x", "y"]) if (drawable[key]) this.plot.setScale(key, ranges[key]); });
    }

    // The ends that the paper's axes have.
    zoomTo({ x, y }) {
      this.state.zoom = { x: { min: x[0], max: x[1] }, y: { min: y[0], max: y[1] } };
      this.draw();
    }

    // The curves that are shown and have bands, with their bands.
    bands() {
      return this.chart.curves.filter((curve) => curve.low && !this.hidden.has(curve.label));
    }

    // The paper's values that are levels, of curves that can be drawn on this axis.
    levels() { return (this.chart.paper?.values ?? []).filter((value) => value.x === null && (!this.state.logY || value.y > 0)); }

    // The paper's curves that are shown.
    paperCurves() { return (this.chart.paper?.curves ?? []).filter((curve) => !this.hidden.has(paperKey(curve))); }

    // The ends of our curves and of the paper's.
    withPaper(axis, min, max) {
      const log = axis === "x" ? this.state.logX : this.state.logY;
      const values = this.paperCurves().flatMap((curve) => curve[axis]).filter((v) => v !== null && (!log || v > 0));
      return values.length ? [Math.min(min ?? Infinity, ...values), Math.max(max ?? -Infinity, ...values)] : [min, max];
    }

    rangeOfY(...ours) {
      const [min, max] = this.withPaper("y", ...ours);
      const ends = [...this.bands().flatMap((curve) => [...curve.low, ...curve.high]), ...this.levels().map((level) => level.y)]
        .filter((v) => v !== null && (!this.state.logY || v > 0));
      const low = Math.min(min ?? Infinity, ...ends), high = Math.max(max ?? -Infinity, ...ends);
      if (!(low <= high)) return [min, max];
      return this.state.logY ? uPlot.rangeLog(low, high, 10, false) : uPlot.rangeNum(low, high, 0.1, true);
    }

    // Draws within the axes.
    inside(u, draw) {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      draw();
      ctx.restore();
    }

    // The range of several runs around their curve, in a paler shade of its colour.
    drawBands(u) {
      const { ctx } = u;
      ctx.globalAlpha = 0.18;
      for (const curve of this.bands()) {
        const low = smoothed(curve.low, this.choices.smooth), high = smoothed(curve.high, this.choices.smooth);
        const drawn = curve.x.map((_, i) => i).filter((i) => low[i] !== null && high[i] !== null &&
          (!this.state.logX || curve.x[i] > 0) && (!this.state.logY || low[i] > 0));
        const point = (i, side) => [u.valToPos(curve.x[i], "x", true), u.valToPos(side[i], "y", true)];
        ctx.beginPath();
        for (const i of drawn) ctx.lineTo(...point(i, high));
        for (const i of drawn.reverse()) ctx.lineTo(...point(i, low));
        ctx.closePath();
        ctx.fillStyle = colorOf(curve.norm);
        ctx.fill();
      }
      ctx.globalAlpha = 1;
    }

    // The paper's curves, thin and pale behind ours.
    drawPaperCurves(u) {
      const { ctx } = u;
      ctx.globalAlpha = 0.5;
      ctx.lineWidth = 1.25 * devicePixelRatio;
      for (const { norm, x, y } of this.paperCurves()) {
        ctx.strokeStyle = colorOf(norm);
        ctx.beginPath();
        let drawing = false;
        x.forEach((value, i) => {
          const seen = value !== null && (!this.state.logX || value > 0) && (!this.state.logY || y[i] > 0);
          if (seen) ctx[drawing ? "lineTo" : "moveTo"](u.valToPos(value, "x", true), u.valToPos(y[i], "y", true));
          drawing = seen;
        });
        ctx.stroke();
      }
      ctx.globalAlpha = 1;
    }

    // What the paper's text gives, faint: levels as lines with their names above and below in turn, values as circles.
    drawPaper(u) {
      const { ctx, bbox } = u, scale = devicePixelRatio;
      ctx.lineWidth = 1.5 * scale;
      ctx.font = `${11 * scale}px system-ui, sans-serif`;
      ctx.textAlign = "right";
      this.levels().forEach((level, i) => {
        const y = u.valToPos(level.y, "y", true);
        ctx.strokeStyle = ctx.fillStyle = colorOf(level.norm);
        ctx.globalAlpha = 0.55;
        ctx.setLineDash([3 * scale, 3 * scale]);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
        ctx.globalAlpha = 1;
        ctx.textBaseline = i % 2 === 0 ? "bottom" : "top";
        ctx.fillText(`paper: ${level.title}`, bbox.left + bbox.width - 4 * scale, y + (i % 2 === 0 ? -3 : 3) * scale);
      });
      ctx.setLineDash([]);
      for (const value of (this.chart.paper?.values ?? []).filter((each) => each.x !== null)) {
        ctx.strokeStyle = colorOf(value.norm);
        ctx.beginPath();
        ctx.arc(u.valToPos(value.x, "x", true), u.valToPos(value.y, "y", true), 5 * scale, 0, 2 * Math.PI);
        ctx.stroke();
      }
    }

    range(key) { const { min, max } = this.plot.scales[key]; return { min, max }; }

    update(chart) {
      this.chart = chart;
      this.plot.setData(this.data(), !this.zoomed);
      if (this.zoomed) this.plot.redraw();
    }

    show(label, visible) {
      if ((this.chart.paper?.curves ?? []).some((curve) => paperKey(curve) === label)) this.draw(); // other ends of the axes
      this.chart.curves.forEach((curve, i) => { if (curve.label === label) this.plot.setSeries(i + 1, { show: visible }); });
    }

    setLog(which, on) {
      this.state[which] = on;
      this.unzoom();
    }

    unzoom() {
      this.zoomed = false;
      this.state.zoom = null;
      this.draw();
    }

    destroy() {
      this.resize.disconnect();
      this.plot.destroy();
      all.delete(this);
    }
  }

  // Paper is white whatever the screen is.
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", () => all.forEach((chart) => chart.draw()));

  return { Chart, number, decades, labels, paperKey };
})();
