import { partitionDrivers } from '../../src/controller/mode.ts';
import { featureGates } from '../../src/options/feature-gates.ts';
import type { Flag } from '../../src/options/flag.ts';
import { flagNames, flags, logFormats, logLevels, strategies } from '../../src/options/flags.ts';

type Schema = Readonly<Record<string, unknown>>;

const text: Schema = { type: 'string' };
const filled: Schema = { type: 'string', minLength: 1 };
const yesOrNo: Schema = { type: 'boolean' };
const duration: Schema = { type: 'string', pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$' };
const namespace: Schema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' };
const labels: Schema = { type: 'object', additionalProperties: text };
/** What the API server checks better than this could. */
const kubernetes: Schema = { type: 'object' };

/** They follow from other values, or from the manifest. */
const ofTheChart: readonly string[] = [
  'kubeconfig',
  'feature-gates',
  'namespaces',
  'webhook-bind-address',
  'cert-dir',
  'partition-driver',
  'metrics-bind-address',
  'health-probe-bind-address',
  'leader-elect',
  'leader-election-namespace',
];

const choices: Readonly<Record<string, readonly string[]>> = {
  'default-strategy': strategies,
  'log-level': logLevels,
  'log-format': logFormats,
};

const isPeriod = (name: string): boolean => /-(duration|deadline|period|interval)$/.test(name);

/** cert-manager's, or one of your own, of which the API server has to be told whom to trust. */
const whoseCertificate: Schema = {
  anyOf: [{ properties: { certManager: { const: true } } }, { properties: { caBundle: filled } }],
};

function object(properties: Readonly<Record<string, Schema>>, more: Schema = {}): Schema {
  return { type: 'object', additionalProperties: false, properties, ...more };
}

function flag(name: string, { description, defaultText }: Flag<unknown>): Schema {
  const [firstLine = ''] = description.split('\n');
  if (choices[name] !== undefined) return { enum: choices[name], description: firstLine };
  if (isPeriod(name)) return { anyOf: [duration, { const: 0 }, { const: '0' }], description: firstLine };
  if (defaultText === '') return { ...filled, description: firstLine };
  return { type: 'number', minimum: 0, description: firstLine };
}

/** What `helm` refuses values by, with the place of each that is wrong. */
export function valuesSchema(): Schema {
  const others = flagNames.filter((name) => !ofTheChart.includes(name));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of moco-rollout',
    ...object({
      // Helm's own, of charts that have this one as a part.
      global: kubernetes,
      image: object({
        repository: filled,
        tag: text,
        pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
      }),
      imagePullSecrets: { type: 'array', items: object({ name: filled }, { required: ['name'] }) },
      replicas: { type: 'integer', minimum: 1, maximum: 10 },
      featureGates: object(Object.fromEntries(Object.keys(featureGates).map((gate) => [gate, yesOrNo]))),
      namespaces: { type: 'array', items: namespace, uniqueItems: true },
      flags: object(Object.fromEntries(others.map((name) => [name, flag(name, flags[name])]))),
      admission: { enum: ['auto', 'policy', 'webhook', 'none'] },
      certificate: object(
        {
          certManager: yesOrNo,
          secretName: filled,
          caBundle: { type: 'string', pattern: '^[A-Za-z0-9+/=]*$' },
        },
        whoseCertificate,
      ),
      crds: object({ install: yesOrNo }),
      users: object({ create: yesOrNo }),
      partitionDriver: { enum: partitionDrivers },
      handBack: object({ enabled: yesOrNo, timeout: duration }),
      resources: kubernetes,
      affinity: kubernetes,
      nodeSelector: labels,
      tolerations: { type: 'array', items: kubernetes },
      priorityClassName: text,
      podAnnotations: labels,
      extraVolumes: { type: 'array', items: kubernetes },
      extraVolumeMounts: { type: 'array', items: kubernetes },
      networkPolicy: object({ enabled: yesOrNo }),
      serviceMonitor: object({ enabled: yesOrNo, labels }),
      prometheusRule: object({ enabled: yesOrNo, labels }),
      dashboard: object({ enabled: yesOrNo, labels }),
    }),
  };
}
