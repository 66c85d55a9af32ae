// Charts: uPlot, with this page's colours, controls and number formats.
"use strict";

const Charts = (() => {
  const dashes = [[], [8, 4], [2, 3], [10, 4, 2, 4], [1, 6]];
  const all = new Set(); // charts on the page, to be drawn again in other colours

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colorOf = (norm) => color(`--norm-${norm}`) || color("--norm-other");

  const raised = (n) => String(n).replace(/./g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
  const power = (value) => "10" + raised(Math.round(Math.log10(value)));
  function number(value, digits = 4) {
    if (value == null) return "–";
    const text = String(Number(value.toPrecision(digits)));
    const short = /e/.test(text) || (value !== 0 && Math.abs(value) < 1e-3) || Math.abs(value) >= 1e6;
    if (!short) return text;
    const [front, exponent] = Number(value.toPrecision(digits)).toExponential().split("e");
    return (front === "1" ? "" : front === "-1" ? "-" : front + " × ") + "10" + raised(Number(exponent));
  }

  // A log axis has no place for what is not above 0; null is a gap.
  const drawable = (values, log) => (log ? values.map((v) => (v > 0 ? v : null)) : values);

  function dataOf(chart, logX, logY) {
    return uPlot.join(chart.curves.map(({ x, y }) => {
      const keep = x.map((v) => v !== null && (!logX || v > 0));
      return [x.filter((_, i) => keep[i]), drawable(y, logY).filter((_, i) => keep[i])];
    }));
  }

  // Marks of a log axis: at most some eight powers of ten, or 1, 2 and 5 of each where it spans few. (uPlot's own never
  // end below 1e-32, where a vanishing gradient soon is.)
  function decades(min, max) {
    const first = Math.floor(Math.log10(min)), last = Math.ceil(Math.log10(max));
    const stride = Math.ceil((last - first) / 8), digits = last - first > 2 ? [1] : [1, 2, 5];
    const marks = [];
    for (let power = first; power <= last; power += stride) marks.push(...digits.map((digit) => Number(`${digit}e${power}`)));
    return marks.filter((mark) => mark >= min && mark <= max);
  }

  function axis(label, log, extra) {
    return {
      ...(log && { splits: (_, __, min, max) => decades(min, max), filter: (_, splits) => splits }),
      label, labelSize: 20, labelFont: "13px system-ui, sans-serif", font: "12px system-ui, sans-serif",
      stroke: color("--faint"), labelGap: 2,
      grid: { stroke: color("--grid"), width: 1 }, ticks: { stroke: color("--grid"), width: 1, size: 5 },
      values: (_, splits) => splits.map((v) => (log && splits.at(-1) / splits[0] > 1e4 ? power(v) : number(v))),
      ...extra,
    };
  }

  // A chart in a box of its own. `hidden` is the set of labels that are switched off in the whole exhibit; `state` keeps
  // what the reader chose (scales, zoom) when the chart is made again.
  class Chart {
    constructor(box, chart, group, hidden, state) {
      Object.assign(this, { box, chart, group, hidden, state });
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
        legend: { live: true },
        scales: {
          x: { time: false, distr: state.logX ? 3 : 1 },
          y: { distr: state.logY ? 3 : 1, ...(chart.curves.some((curve) => curve.low) && { range: (_, min, max) => this.rangeWithBands(min, max) }) },
        },
        axes: [axis(chart.x, state.logX, { size: 30, space: 56 }), axis(chart.y, state.logY, { size: 58, space: 30 })],
        series: [
          { label: chart.x, value: (_, v) => number(v) },
          ...chart.curves.map((curve) => ({
            label: curve.label, stroke: colorOf(curve.norm), width: 2, dash: dashes[curve.dash % dashes.length],
            points: { size: 5 }, show: !this.hidden.has(curve.label), value: (_, v) => number(v),
          })),
        ],
        hooks: {
          drawAxes: [(u) => this.drawBands(u)], setSelect: [(u) => { this.zoomed = u.select.width > 0 || u.select.height > 0; }], setScale: [keepZoom] },
      }, dataOf(chart, state.logX, state.logY), this.box);
      this.plot.over.addEventListener("dblclick", () => { this.zoomed = false; });
      if (state.zoom) {
        this.zoomed = true;
        this.plot.batch(() => { for (const key of ["x", "y"]) this.plot.setScale(key, state.zoom[key]); });
      }
    }

    // The curves that are shown and have bands, with their bands.
    bands() {
      return this.chart.curves.filter((curve) => curve.low && !this.hidden.has(curve.label));
    }

    rangeWithBands(min, max) {
      const ends = this.bands().flatMap((curve) => [...curve.low, ...curve.high]).filter((v) => v !== null && (!this.state.logY || v > 0));
      const low = Math.min(min ?? Infinity, ...ends), high = Math.max(max ?? -Infinity, ...ends);
      if (!(low <= high)) return [min, max];
      return this.state.logY ? uPlot.rangeLog(low, high, 10, false) : uPlot.rangeNum(low, high, 0.1, true);
    }

    // The range of several runs around their curve, in a paler shade of its colour.
    drawBands(u) {
      const { ctx, bbox } = u;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.globalAlpha = 0.18;
      for (const curve of this.bands()) {
        const drawn = curve.x.map((_, i) => i).filter((i) => curve.low[i] !== null && curve.high[i] !== null &&
          (!this.state.logX || curve.x[i] > 0) && (!this.state.logY || curve.low[i] > 0));
        const point = (i, side) => [u.valToPos(curve.x[i], "x", true), u.valToPos(curve[side][i], "y", true)];
        ctx.beginPath();
        for (const i of drawn) ctx.lineTo(...point(i, "high"));
        for (const i of drawn.reverse()) ctx.lineTo(...point(i, "low"));
        ctx.closePath();
        ctx.fillStyle = colorOf(curve.norm);
        ctx.fill();
      }
      ctx.restore();
    }

    range(key) { const { min, max } = this.plot.scales[key]; return { min, max }; }

    update(chart) {
      this.chart = chart;
      this.plot.setData(dataOf(chart, this.state.logX, this.state.logY), !this.zoomed);
      if (this.zoomed) this.plot.redraw();
    }

    show(label, visible) {
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

  return { Chart, number };
})();
