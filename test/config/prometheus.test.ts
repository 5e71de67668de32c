import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { alertOf, holdRules as rules } from '../../src/core/rules/catalogue.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { promtool } from '../telemetry/promtool.ts';
import { type Manifest, readManifests, readOne } from './manifests.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface AlertTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[];
  }[];
}

const rulesFile = 'config/prometheus/rules.yml';
const alertTests = 'test/config/prometheus/alerts.yml';
/** Of MOCO itself. */
const foreignMetrics = ['moco_cluster_replicas'];

async function alerts(): Promise<readonly Alert[]> {
  const { spec } = (await readOne('PrometheusRule')) as Manifest & { spec: { groups: readonly { rules: Alert[] }[] } };
  return spec.groups.flatMap((group) => group.rules);
}

describe('the rules of Prometheus', () => {
  it('can be read by Prometheus', function () {
    const { status, said } = promtool(this, ['check', 'rules', rulesFile]);
    expect(status, said).to.equal(0);
  });

  it('fire when they should, and only then', function () {
    const { status, said } = promtool(this, ['test', 'rules', alertTests]);
    expect(status, said).to.equal(0);
  });

  it('are all tested, firing and silent', async () => {
    const { tests } = parse(await readFile(alertTests, 'utf8')) as AlertTests;
    const checks = tests.flatMap((test) => test.alert_rule_test);
    for (const { alert } of await alerts()) {
      const own = checks.filter(({ alertname }) => alertname === alert);
      expect(
        own.some(({ exp_alerts: expected }) => expected.length > 0),
        `${alert} fires`,
      ).to.equal(true);
      expect(
        own.some(({ exp_alerts: expected }) => expected.length === 0),
        `${alert} is silent`,
      ).to.equal(true);
    }
  });

  it('use only existing metrics', async () => {
    const { registry } = createMetrics('0.0.0', [], { servesWebhook: true, drivesPartitions: true });
    const known = new Set(foreignMetrics);
    for (const { name } of registry.getMetricsAsArray()) {
      for (const end of ['', '_bucket', '_count', '_sum']) known.add(name + end);
    }
    for (const { alert, expr } of await alerts()) {
      const metrics = [...expr.matchAll(/\bmoco_\w+/g)].map(([metric]) => metric);
      expect(metrics, alert).to.not.deep.equal([]);
      expect(
        metrics.filter((metric) => !known.has(metric)),
        alert,
      ).to.deep.equal([]);
    }
  });

  it('have a rule in the expression of its own alert', async () => {
    const expressions = new Map((await alerts()).map(({ alert, expr }) => [alert, expr]));
    for (const rule of rules) {
      const alert = alertOf(rule);
      if (alert === null || alert === 'MocoRolloutNoProgress') continue;
      expect(expressions.get(alert), `add ${rule} to the expression of ${alert} in config/prometheus`).to.match(
        new RegExp(`rule=~?"[^"]*\\b${rule}\\b`),
      );
    }
  });

  it('lead each rule to a runbook that says what to do about it', async () => {
    const silent: string[] = [];
    for (const rule of rules) {
      const alert = alertOf(rule);
      if (alert === null) continue;
      const page = await readFile(`docs/runbooks/${alert}.md`, 'utf8');
      const isOnly = rules.filter((other) => alertOf(other) === alert).length === 1;
      if (!isOnly && !page.includes(`\`${rule}\``)) silent.push(`${alert}: ${rule}`);
    }
    expect(silent, 'name these rules in docs/runbooks/ALERT.md: a row, or a paragraph about what to do').to.deep.equal(
      [],
    );
  });

  it('have a severity, a sentence, more, and a runbook each', async () => {
    const pages = await readdir('docs/runbooks');
    const overview = await readFile('docs/runbooks/README.md', 'utf8');
    const all = await alerts();
    for (const { alert, labels, annotations } of all) {
      expect(['critical', 'warning', 'info'], alert).to.include(labels.severity);
      expect(overview).to.contain(`| [${alert}](${alert}.md) | ${labels.severity} |`);
      expect(annotations['summary'], alert).to.match(/\.$/);
      expect(annotations['description'], alert).to.match(/\.$/);
      expect(annotations['runbook_url'], alert).to.equal(`docs/runbooks/${alert}.md`);
      expect(await readFile(join('docs/runbooks', `${alert}.md`), 'utf8')).to.match(new RegExp(`^# ${alert}\n`));
    }
    expect(pages).to.have.members([...all.map(({ alert }) => `${alert}.md`), 'README.md']);
  });
});

interface Service {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly ports: readonly { readonly name: string }[] };
}

describe('the ServiceMonitor', () => {
  it('finds the metrics, and keeps the namespace that they name', async () => {
    const { spec } = (await readOne('ServiceMonitor')) as Manifest & {
      spec: {
        selector: { matchLabels: Record<string, string> };
        endpoints: readonly { port: string; honorLabels: boolean }[];
      };
    };
    const services = (await readManifests()).filter(({ kind }) => kind === 'Service') as unknown as readonly Service[];
    const selected = services.filter(({ metadata: { labels = {} } }) =>
      Object.entries(spec.selector.matchLabels).every(([label, value]) => labels[label] === value),
    );
    expect(selected.map(({ metadata }) => metadata.name)).to.deep.equal(['moco-rollout-metrics']);
    const ports = selected.flatMap((service) => service.spec.ports.map(({ name }) => name));
    expect(spec.endpoints.map(({ port, honorLabels }) => [port, honorLabels])).to.deep.equal([[ports[0], true]]);
  });
});
