import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { promtool } from '../telemetry/promtool.ts';
import { type Dashboard, dashboardSchema } from './grafana-schema.ts';

const file = 'config/grafana/moco-rollout.json';

/** What a query gets from Grafana, as some value of its kind. */
const variables: Readonly<Record<string, string>> = {
  $__rate_interval: '5m',
  $__range: '6h',
  $namespace: '.*',
  $cluster: '.*',
};

describe('the dashboard', () => {
  let raw: unknown;
  let dashboard: Dashboard;
  let queries: readonly string[];
  /** Of panels and annotations. */
  let expressions: readonly string[];

  before(async () => {
    raw = JSON.parse(await readFile(file, 'utf8'));
    dashboard = dashboardSchema.parse(raw);
    const targets = dashboard.panels.flatMap((panel) => ('targets' in panel ? panel.targets : []));
    const asked = dashboard.templating.list.flatMap((one) => (one.type === 'query' ? [one.definition] : []));
    const noted = dashboard.annotations.list.flatMap((one) => ('expr' in one ? [one.expr] : []));
    expressions = [...targets.map(({ expr }) => expr), ...noted];
    queries = [...expressions, ...asked];
  });

  it("matches Grafana's schema, without unknown fields", () => {
    expect(dashboardSchema.safeParse(raw).success).to.equal(true);
    expect(dashboardSchema.safeParse({ ...dashboard, pannels: [] }).success).to.equal(false);
  });

  it('has panels that do not overlap, each with an id and a title of its own', () => {
    const { panels } = dashboard;
    expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
    expect(new Set(panels.map(({ title }) => title)).size).to.equal(panels.length);
    const taken = new Set<string>();
    for (const { title, gridPos } of panels) {
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x += 1) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y += 1) {
          expect(taken.has(`${x},${y}`), `${title} at ${x},${y}`).to.equal(false);
          taken.add(`${x},${y}`);
        }
      }
    }
  });

  it('uses only existing metrics, and shows each metric of this program', () => {
    const { registry } = createMetrics('0.0.0', [], { servesWebhook: true, drivesPartitions: true });
    const names = registry.getMetricsAsArray().map(({ name }) => name);
    const asked = new Set(
      queries
        .flatMap((query) => [...query.matchAll(/\b(?:moco|kubernetes|workqueue|nodejs|process|rest_client)_\w+/g)])
        .map(String),
    );
    const known = new Set(names.flatMap((name) => [name, `${name}_bucket`, `${name}_count`, `${name}_sum`]));
    expect([...asked].filter((name) => !known.has(name))).to.deep.equal([]);
    const shown = (name: string): boolean => [name, `${name}_bucket`, `${name}_sum`].some((one) => asked.has(one));
    expect(names.filter((name) => /^(?:moco|rest_client)_/.test(name) && !shown(name))).to.deep.equal([]);
  });

  it('names quantiles as is usual, and links to the runbooks', () => {
    const quantiles = dashboard.panels
      .flatMap((panel) => ('targets' in panel ? panel.targets : []))
      .flatMap(({ expr, legendFormat }) => {
        const [, quantile] = /^histogram_quantile\(0\.(\d+),/.exec(expr) ?? [];
        return quantile === undefined ? [] : [[`p${quantile.padEnd(2, '0')}`, legendFormat]];
      });
    expect(quantiles).to.have.length.greaterThan(0);
    expect(quantiles.filter(([expected, legend]) => expected !== legend)).to.deep.equal([]);
    expect(dashboard.links.map(({ url }) => url)).to.deep.equal(['docs/runbooks/README.md']);
  });

  it('uses only its own variables', () => {
    const used = new Set(queries.flatMap((query) => [...query.matchAll(/\$\w+/g)].map(String)));
    const own = dashboard.templating.list.map(({ name }) => `$${name}`);
    expect([...used].filter((name) => !own.includes(name) && !name.startsWith('$__r'))).to.deep.equal([]);
    expect(Object.keys(variables)).to.include.members([...used]);
  });

  it('has queries that Prometheus can parse', async function () {
    const directory = await mkdtemp(join(tmpdir(), 'dashboard-'));
    try {
      const records = expressions.map((expr, index) => ({ record: `panel:${index}`, expr: withValues(expr) }));
      const path = join(directory, 'rules.yml');
      await writeFile(path, stringify({ groups: [{ name: 'panels', rules: records }] }));
      const { status, said } = promtool(this, ['check', 'rules', path]);
      expect(status, said).to.equal(0);
      expect(said).to.contain(`${records.length} rules found`);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});

function withValues(expression: string): string {
  return Object.entries(variables).reduce((text, [name, value]) => text.replaceAll(name, value), expression);
}
