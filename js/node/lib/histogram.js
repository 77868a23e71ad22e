// Histograms of perf_hooks, by the algorithm of HdrHistogram, so that results are those of Node. A
// value belongs to a range of equivalent values, whose size grows with the value.
(function (native, host) {
'use strict';

const { ceil, floor, log, log2, max, min, round, sqrt } = Math;
const LARGEST = 2 ** 63;

class Histogram {
  #lowest;
  #highest;
  #figures;
  #unit;
  #subBuckets;
  // The counts by the lowest value of each range.
  #counts = new Map();
  #total = 0;
  #exceeds = 0;
  #min = LARGEST;
  #max = 0;
  #last;

  constructor(lowest = 1, highest = Number.MAX_SAFE_INTEGER, figures = 3) { this.#begin(lowest, highest, figures); }
  #begin(lowest, highest, figures) {
    this.#lowest = Number(lowest);
    this.#highest = Number(highest);
    this.#figures = figures;
    this.#unit = floor(log2(this.#lowest));
    this.#subBuckets = ceil(log2(2 * 10 ** figures));
  }

  // Returns the lowest value of a value's range and the size of the range.
  #range(value) {
    const bits = max(floor(log2(max(value, 1))) + 1, this.#unit + this.#subBuckets);
    const size = 2 ** (bits - this.#subBuckets);
    return [floor(value / size) * size, size];
  }
  #highestOf(value) {
    const [from, size] = this.#range(value);
    return from + size - 1;
  }
  #medianOf(value) {
    const [from, size] = this.#range(value);
    return from + floor(size / 2);
  }
  #sorted() { return [...this.#counts].sort(([a], [b]) => a - b); }

  record(given) {
    const value = Number(given);
    if (value < 0 || value > this.#highest && this.#highestOf(this.#highest) < value) {
      this.#exceeds++;
      return;
    }
    this.#add(value, 1);
  }
  #add(value, count) {
    const [from] = this.#range(value);
    this.#counts.set(from, (this.#counts.get(from) ?? 0) + count);
    this.#total += count;
    if (value > 0) this.#min = min(this.#min, value);
    this.#max = max(this.#max, value);
  }
  recordDelta() {
    const now = native.hrtime();
    if (this.#last !== undefined) this.record(max(1, round(now - this.#last)));
    this.#last = now;
  }
  add(other) {
    other.#counts.forEach((count, value) => this.#add(value, count));
    this.#exceeds += other.#exceeds;
  }
  reset() {
    this.#counts.clear();
    [this.#total, this.#exceeds, this.#min, this.#max, this.#last] = [0, 0, LARGEST, 0, undefined];
  }

  count() { return this.#total; }
  exceeds() { return this.#exceeds; }
  min() { return this.#counts.has(0) ? 0 : this.#min === LARGEST ? LARGEST : this.#range(this.#min)[0]; }
  max() { return this.#max === 0 ? 0 : this.#highestOf(this.#max); }
  mean() {
    let sum = 0;
    this.#sorted().forEach(([value, count]) => { sum += count * this.#medianOf(value); });
    return sum / this.#total;
  }
  stddev() {
    const mean = this.mean();
    let sum = 0;
    this.#sorted().forEach(([value, count]) => { sum += count * (this.#medianOf(value) - mean) ** 2; });
    return sqrt(sum / this.#total);
  }
  percentile(percentile) {
    const wanted = max(1, floor(percentile / 100 * this.#total + 0.5));
    let seen = 0;
    for (const [value, count] of this.#sorted()) {
      seen += count;
      if (seen >= wanted) return this.#highestOf(value);
    }
    return 0;
  }
  // Sets the values at percentiles whose distance to 100 is halved each time.
  percentiles(map, convert = Number) {
    let [seen, next, last] = [0, 0, 0];
    for (const [value, count] of this.#sorted()) {
      seen += count;
      last = value;
      while (next <= 100 * seen / this.#total) {
        map.set(next, convert(value));
        next += 100 / 2 ** (floor(log(100 / (100 - next)) / log(2)) + 1);
        if (seen >= this.#total) break;
      }
    }
    map.set(100, convert(last));
  }

  countBigInt() { return BigInt(this.count()); }
  exceedsBigInt() { return BigInt(this.exceeds()); }
  minBigInt() { return this.#min === LARGEST ? 2n ** 63n - 1n : BigInt(this.min()); }
  maxBigInt() { return BigInt(this.max()); }
  percentileBigInt(percentile) { return BigInt(this.percentile(percentile)); }
  percentilesBigInt(map) { this.percentiles(map, BigInt); }

  get [host.binding('symbols').messaging_clone_symbol]() {
    return () => ({
      data: { settings: [this.#lowest, this.#highest, this.#figures], counts: this.#counts, state: [this.#total, this.#exceeds, this.#min, this.#max] },
      deserializeInfo: 'wasibox:histogram',
    });
  }
  [host.binding('symbols').messaging_deserialize_symbol]({ settings, counts, state }) {
    this.#begin(...settings);
    this.#counts = counts;
    [this.#total, this.#exceeds, this.#min, this.#max] = state;
  }
}
host.makers.histogram = () => new Histogram();
host.Histogram = Histogram;

// The delays of the event loop: the time between ticks of a timer.
class DelayHistogram extends Histogram {
  #timer;
  #resolution;
  constructor(resolution) {
    super(1, 3.6e12, 3);
    this.#resolution = resolution;
  }
  start(resets) {
    if (resets) this.reset();
    this.#timer = host.require('timers').setInterval(() => this.recordDelta(), this.#resolution).unref();
  }
  stop() { host.require('timers').clearInterval(this.#timer); }
}
host.makeDelayHistogram = (resolution) => new DelayHistogram(resolution);
})
