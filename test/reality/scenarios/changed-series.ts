/** Of this program, without the parts of histograms: their sums and counts say enough. */
const isTelling = (line: string): boolean =>
  line.startsWith('moco_rollout_') && !/_bucket\{|^moco_rollout_cache_age/.test(line);

/** The lines of a scrape, in Prometheus' text format, that the one before did not have with that value. */
export function changedSeries(before: string, after: string): readonly string[] {
  const known = new Set(before.split('\n'));
  return after.split('\n').filter((line) => isTelling(line) && !known.has(line));
}
