import { flagOfSetting } from '../src/api/settings.ts';
import type { Flag } from '../src/options/flag.ts';
import { flags } from '../src/options/flags.ts';

// Writes the schema of the Helm chart's values. Only the values that become flags are described.

/** Flags that the Deployment sets, or that follow from other values. All other flags can be set under `flags`. */
const setByTheChart: readonly Flag<unknown>[] = [
  flags.kubeconfigPath,
  flags.featureGates,
  flags.namespaces,
  flags.webhookBindAddress,
  flags.certDir,
  flags.metricsBindAddress,
  flags.healthProbeBindAddress,
  flags.leaderElect,
  flags.leaderElectionNamespace,
  flags.partitionDriver,
  flags.dryRunPods,
  flags.prometheusUrl,
  flags.prometheusCaFile,
  flags.prometheusTokenFile,
  flags.prometheusBasicAuthFile,
  flags.prometheusHeadersFile,
  flags.prometheusProxyUrl,
];

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
}

/** The text of values.schema.json. Every value that becomes a flag is described as in `src/options`. */
export function withFlags(text: string): string {
  const schema = JSON.parse(text) as Schema;
  const { properties } = schema;
  const all = Object.values<Flag<unknown>>(flags);
  const ofSettings = Object.entries(flagOfSetting).map(([setting, name = '']) => {
    const flag = all.find((one) => `--${one.name}` === name);
    if (flag === undefined) throw new Error(`Expected a flag ${name} for the setting ${setting}, got none.`);
    return [setting, flag] as const;
  });
  const taken = [...setByTheChart, ...ofSettings.map(([, flag]) => flag)];
  const others = all.filter((flag) => !taken.includes(flag)).map((flag) => [flag.name, flag] as const);
  const values = (of: readonly (readonly [name: string, flag: Flag<unknown>])[]) =>
    Object.fromEntries(of.map(([name, flag]) => [name, { ...flag.schema, description: flag.description }]));
  const written = {
    ...properties,
    featureGates: flags.featureGates.schema,
    settings: { ...properties['settings'], properties: values(ofSettings) },
    namespaces: flags.namespaces.schema,
    flags: { ...properties['flags'], properties: values(others) },
    partitionDriver: flags.partitionDriver.schema,
    prometheus: {
      ...properties['prometheus'],
      properties: { ...properties['prometheus']?.properties, url: flags.prometheusUrl.schema },
    },
  };
  return `${JSON.stringify({ ...schema, properties: written }, null, 2)}\n`;
}
