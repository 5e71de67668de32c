import { spreadOf } from '../record/spread.ts';
import type { Idle } from './idle.ts';

const megabyte = 1_000_000;

/** How to calculate a figure from the measurements, in its unit. */
export interface Measure<Measured> {
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  readonly of: (measured: Measured) => number;
}

/** What an idle program needs. */
export const idleFigures = {
  peak: {
    what: 'resident at its peak',
    unit: 'MB',
    digits: 0,
    of: ({ listing }) => listing.usage.peakBytes / megabyte,
  },
  resident: {
    what: 'resident, idle, most',
    unit: 'MB',
    digits: 0,
    of: ({ residentBytes }) => Math.max(...residentBytes) / megabyte,
  },
  processor: { what: 'CPU, idle, of a core', unit: '%', digits: 2, of: ({ cores }) => cores * 100 },
  scrape: {
    what: 'a scrape of `/metrics`',
    unit: 'ms',
    digits: 0,
    of: ({ scrapeMilliseconds }) => spreadOf(scrapeMilliseconds).median,
  },
} as const satisfies Readonly<Record<string, Measure<Idle>>>;
