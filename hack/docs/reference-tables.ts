import { rolloutKind } from '../../src/api/rollout.ts';
import { commonFields } from '../../src/api/settings.ts';
import type { Flag } from '../../src/options/flag.ts';
import { featureGates, flags } from '../../src/options/flags.ts';
import { logFields } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { definitions, type Schema } from '../crd.ts';
import { typeOf } from './field-table.ts';
import type { Sections } from './sections.ts';
import { code, table } from './table.ts';

/** The sections of docs/reference.md about flags, settings, metrics and fields of log lines. */
export const referenceSections = (): Sections => ({
  flags: `${flagTable()}\n\n${gateTable()}`,
  settings: settingTable((name) => name in commonFields),
  'settings of one cluster': settingTable((name) => !(name in commonFields)),
  metrics: metricTable(),
  'log fields': table(
    ['field', 'meaning'],
    Object.entries(logFields).map(([field, meaning]) => [code(field), meaning]),
  ),
});

function flagTable(): string {
  const rows = Object.values<Flag<unknown>>(flags).map(({ name, defaultText, description }) => {
    const [firstLine = ''] = description.split('\n');
    return [code(`--${name}`), defaultText === '' ? '' : code(defaultText), firstLine.replace(/:$/, '')];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function gateTable(): string {
  const rows = Object.entries(featureGates).map(([name, { stage, enabledByDefault, description }]) => [
    code(name),
    stage,
    code(String(enabledByDefault)),
    description,
  ]);
  return table(['feature gate', 'stage', 'default', 'meaning'], rows);
}

/** The first sentence of each description; docs/fields.md contains the rest. */
function settingTable(isShown: (name: string) => boolean): string {
  const rows = Object.entries(specOf(rolloutKind.kind))
    .filter(([name]) => isShown(name))
    .map(([name, schema]) => {
      const { description = '' } = schema;
      const [, flag, builtIn] =
        /Defaults to (?:the controller's flag (\S+) .*?|(.*?))\.(?: |$)/.exec(description) ?? [];
      const [sentence = ''] = /^.*?\.(?= |$)/.exec(description) ?? [];
      return [code(name), typeOf(schema), flag === undefined ? (builtIn ?? '') : code(flag), sentence];
    });
  return table(['field', 'values', 'default', 'meaning'], rows);
}

function specOf(kind: string): Readonly<Record<string, Schema>> {
  const definition = Object.values(definitions()).find(({ spec }) => spec.names.kind === kind);
  return definition?.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties ?? {};
}

/**
 * Metrics whose names are not this project's: prom-client names those of Node.js and the process, and client-go those
 * of work queues.
 */
const foreignMetric = /^(?:nodejs|process|workqueue)_/;

function metricTable(): string {
  const { registry } = createMetrics('', [], { servesWebhook: true, drivesPartitions: true });
  const rows = registry
    .getMetricsAsArray()
    .filter(({ name }) => !foreignMetric.test(name))
    .map(({ name, type, help, ...rest }) => {
      // prom-client's types lack these fields.
      const { labelNames } = rest as unknown as { readonly labelNames: readonly string[] };
      return [code(name), String(type), labelNames.map(code).join(', '), help.replaceAll('<', '\\<')];
    });
  return table(['metric', 'type', 'labels', 'meaning'], rows);
}
