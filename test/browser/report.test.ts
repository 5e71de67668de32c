import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import type { Browser } from 'playwright-core';
import { rolloutKind } from '../../src/api/rollout.ts';
import { fleetClusters } from '../../src/cli/html/figures.ts';
import { fleetPage } from '../../src/cli/html/fleet-page.ts';
import { FakeCluster } from '../cli/fake-cluster.ts';
import { fleetNow, recordedFleet } from '../cli/recorded-fleet.ts';
import { at, recordedHistory, recordRollout, tell } from '../cli/recorded-rollout.ts';
import { startChromium } from './chromium.ts';
import { defectsOf, type ExpectedChart } from './defects.ts';
import { lookAt, type PageLook } from './look.ts';

/** High enough for everything to be in the window. */
const windowHeight = 2400;
const wide = 1280;
const narrow = 600;

interface Shown {
  readonly look: PageLook;
  /** What the browser complained about, and what it asked for beside the page. */
  readonly errors: readonly string[];
  readonly requests: readonly string[];
}

const charts: readonly ExpectedChart[] = [
  {
    lanes: [
      { name: 'moco-test-2', unavailable: [[20 / 120, 1]] },
      { name: 'moco-test-1', unavailable: [] },
      { name: 'moco-test-0', unavailable: [] },
    ],
    switchovers: [],
    holds: [30 / 120],
  },
  {
    lanes: [
      { name: 'moco-test-2', unavailable: [[5 / 120, 34 / 120]] },
      { name: 'moco-test-1', unavailable: [[40 / 120, 71 / 120]] },
      { name: 'moco-test-0', unavailable: [[80 / 120, 110 / 120]] },
    ],
    switchovers: [74 / 120],
    holds: [75 / 120],
  },
];

function fleetOf(count: number, nameOf?: (index: number) => string): string {
  const since = fleetNow - 30 * 86_400_000;
  const clusters = fleetClusters(recordedFleet(count, nameOf), since, fleetNow);
  const sequences = [{ name: 'production', status: { stage: 'most', clusters: 14, failingClusters: 1 } }];
  return fleetPage({
    scope: 'all namespaces',
    clusters,
    sequences,
    sinceMilliseconds: since,
    nowMilliseconds: fleetNow,
    queriesMysql: false,
  });
}

describe('a report in a browser', () => {
  let browser: Browser | undefined;
  let directory: string;
  let html: string;

  before(async function () {
    browser = await startChromium(this);
    directory = await mkdtemp(join(tmpdir(), 'report-in-browser-'));
    const cluster = await FakeCluster.start();
    recordRollout(cluster);
    const underWay = {
      revision: 'moco-test-6c7fd9d5b4',
      from: 'moco-test-7966559688',
      startedAt: at(480),
      disruptions: 1,
      switchovers: 0,
      changes: [{ path: 'spec.containers[mysqld].image', from: `mysql@sha256:${'0'.repeat(64)}`, to: 'mysql:8.4.9' }],
    };
    cluster.server.change(rolloutKind, 'test', {
      status: { phase: 'Progressing', history: recordedHistory, rollout: underWay },
    });
    tell(cluster, 'AwaitingParticipation', 510, 'moco-test-2 is not back yet', { action: 'Waiting' });
    html = (await cluster.run('report', 'test')).out;
    await cluster.close();
  });

  after(async () => {
    await browser?.close();
    if (directory !== undefined) await rm(directory, { recursive: true });
  });

  async function shown(text: string, width = wide, colorScheme: 'light' | 'dark' = 'light'): Promise<Shown> {
    const file = join(directory, 'rollout.html');
    const address = pathToFileURL(file).href;
    await writeFile(file, text);
    if (browser === undefined) throw new Error('there is no browser');
    const page = await browser.newPage({ viewport: { width, height: windowHeight } });
    try {
      const errors: string[] = [];
      const requests: string[] = [];
      page.on('console', (message) => errors.push(message.text()));
      page.on('pageerror', ({ message }) => errors.push(message));
      page.on('request', (request) => requests.push(request.url()));
      await page.emulateMedia({ colorScheme });
      await page.goto(address);
      const look = await lookAt(page);
      return { look, errors, requests: requests.filter((url) => url !== address) };
    } finally {
      await page.close();
    }
  }

  for (const width of [wide, narrow]) {
    for (const colours of ['light', 'dark'] as const) {
      it(`shows lanes, unavailability, the switchover and waits at their places, ${colours} and ${width} wide`, async () => {
        const { look, errors, requests } = await shown(html, width, colours);
        expect(defectsOf(look, charts)).to.deep.equal([]);
        expect(errors).to.deep.equal([]);
        expect(requests).to.deep.equal([]);
      });
    }
  }

  it('has separate colours for light and dark', async () => {
    const [light, dark] = [await shown(html, wide, 'light'), await shown(html, wide, 'dark')];
    expect(light.look.inks).to.have.length.greaterThan(20);
    for (const [index, { what, text, ground }] of light.look.inks.entries()) {
      const other = dark.look.inks[index];
      expect([other?.text, other?.ground], what).not.to.include.members([text]).and.not.to.include.members([ground]);
    }
  });

  it('fits the longest names', async () => {
    const long = `moco-${'long-name-'.repeat(4)}test-`;
    const expected = charts.map((chart) => ({
      ...chart,
      lanes: chart.lanes.map((lane) => ({ ...lane, name: lane.name.replace('moco-test-', long) })),
    }));
    const { look } = await shown(html.replaceAll('moco-test-', long), narrow);
    expect(defectsOf(look, expected)).to.deep.equal([]);
  });

  for (const width of [wide, narrow]) {
    for (const colours of ['light', 'dark'] as const) {
      it(`can be read as the page of a fleet, ${colours} and ${width} wide`, async () => {
        const { look, errors, requests } = await shown(fleetOf(21), width, colours);
        expect(defectsOf(look, [])).to.deep.equal([]);
        expect([errors, requests]).to.deep.equal([[], []]);
      });
    }
  }

  it('filters the clusters of a fleet by their state, without a script', async () => {
    const file = join(directory, 'fleet.html');
    await writeFile(file, fleetOf(21));
    const page = await browser?.newPage();
    const rows = (): Promise<number> => page?.locator('.clusters tr:visible').count() ?? Promise.resolve(0);
    await page?.goto(pathToFileURL(file).href);
    expect(await rows()).to.equal(21);
    await page?.getByLabel('stalled').check();
    expect(await rows()).to.equal(3);
    await page?.getByLabel('in progress').check();
    expect(await rows()).to.equal(9);
    await page?.close();
  });

  it('searches the clusters of a fleet, on top of the filters', async () => {
    const file = join(directory, 'fleet.html');
    await writeFile(file, fleetOf(21));
    const page = await browser?.newPage();
    const rows = (): Promise<number> => page?.locator('.clusters tr:visible').count() ?? Promise.resolve(0);
    await page?.goto(pathToFileURL(file).href);
    await page?.getByLabel('Search').fill('BLOCKEDBYPDB');
    expect(await rows()).to.equal(3);
    await page?.getByLabel('stalled').check();
    expect(await rows()).to.equal(0);
    await page?.getByLabel('Search').fill('');
    expect(await rows()).to.equal(3);
    await page?.close();
  });

  for (const [where, width] of [
    ['on a phone', 360],
    ['on a laptop', 1300],
  ] as const) {
    it(`does not scroll sideways ${where}, and shows every rollout`, async () => {
      const file = join(directory, 'fleet.html');
      const long = (index: number): string => `a-rather-long-name-of-a-cluster-${index}`;
      await writeFile(file, fleetOf(21, long));
      const page = await browser?.newPage({ viewport: { width, height: 800 } });
      await page?.goto(pathToFileURL(file).href);
      const sideways = await page?.evaluate(`[document.documentElement, ...document.querySelectorAll('.scroll')]
        .map((one) => one.scrollWidth - one.clientWidth)`);
      expect(sideways).to.deep.equal([0, 0, 0, 0]);
      const hidden = await page?.evaluate(`[...document.querySelectorAll('.lane .rollout')].filter((one) =>
        one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 0.5).length`);
      expect(hidden).to.equal(0);
      await page?.close();
    });
  }

  describe('is detected as broken', () => {
    const breakages: readonly (readonly [what: string, from: RegExp, to: string, sentence: RegExp])[] = [
      ['without lanes', /<div class="lane">/g, '<div>', /lanes are "", not "moco-test-2/],
      ['without names', /<div class="name">[^<]*/g, '<div class="name">', /lanes are " *", not/],
      ['with names that are hidden', /<\/style>/, '.name { visibility: hidden }</style>', /can't be seen/],
      [
        'with names that are covered',
        /<\/style>/,
        '.plot { left: -9rem; pointer-events: auto }</style>',
        /can't be seen/,
      ],
      ['with bars at the wrong place', /left:33\.33%/, 'left:13.33%', /starts of moco-test-1 are at/],
      ['with bars that are too long', /width:24\.17%/, 'width:124.17%', /not inside of its lane/],
      [
        'without bars',
        /<\/style>/,
        '.lane .unavailable { display: none }</style>',
        /starts of moco-test-2 are at \[0\]/,
      ],
      [
        'with words longer than its bar',
        /<\/style>/,
        '.unavailable { max-width: 9px } .unavailable span { display: block !important }</style>',
        /words of moco-test-1 are not/,
      ],
      [
        'with lanes on top of each other',
        /<\/style>/,
        '.chart > * { grid-row: 1 }</style>',
        /not below the one before/,
      ],
      ['without the switchover', /<span class="switchover" style[^>]*>/, '', /switchovers are at \[\], not/],
      ['with waits among the lanes', /<\/style>/, '.hold { margin-top: -3rem }</style>', /not below the lanes/],
      ['without a legend', /<li>.*<\/li>/g, '', /the legend says ""/],
      ['with text like its ground', /--dim: #667085/, '--dim: #eeeeee', /p\.dim can hardly be read/],
      ['wider than the window', /<h1>/, '<h1 style="width: 1400px">', /the page is \d+ wide in a window of 1280/],
      ['without rollouts', /<section>/g, '<div>', /0 charts, not 2/],
    ];
    for (const [what, from, to, sentence] of breakages) {
      it(what, async () => {
        expect(html).to.match(from);
        const { look } = await shown(html.replace(from, to));
        expect(defectsOf(look, charts).join('\n')).to.match(sentence);
      });
    }

    it('if it loads anything else', async () => {
      const open = html.replace(/<meta http-equiv[^>]*>/, '').replace('</body>', '<img src="other.png"></body>');
      const { errors, requests } = await shown(open);
      expect(requests).to.have.length(1);
      expect(errors).to.have.length(1);
    });
  });
});
