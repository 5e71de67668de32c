import { type Parsed, parseBoolean } from './flag.ts';

interface FeatureGate {
  readonly stage: 'ALPHA' | 'BETA' | 'GA';
  readonly enabledByDefault: boolean;
  readonly description: string;
}

/** Every feature gate there is, in the manner of Kubernetes' `component-base/featuregate`. */
export const featureGates = {
  UpdateStrategyOnDelete: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description: 'StatefulSets are set to OnDelete, and this program decides which pod is replaced, and when',
  },
  InPlaceUpdate: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description: 'pods are changed while they run, where an update does not need to restart mysqld (setting inPlace)',
  },
  ReplicationFacts: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description:
      'MySQL itself is asked what replicas have received and applied, and about open writes, before a member is taken',
  },
} as const satisfies Readonly<Record<string, FeatureGate>>;

export type FeatureGateName = keyof typeof featureGates;
export type FeatureGates = Readonly<Record<FeatureGateName, boolean>>;

const names = Object.keys(featureGates) as FeatureGateName[];

/** Reads `A=true,B=false`; what isn't named keeps its default. The last one wins where a gate is named twice. */
export function parseFeatureGates(text: string): Parsed<FeatureGates> {
  const gates: Record<FeatureGateName, boolean> = { ...defaultFeatureGates() };
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const [name = '', setting] = item.split(/=(.*)/s);
    if (!isFeatureGate(name))
      return problem(`unknown feature gate \`${name}\`; the known ones are ${names.join(', ')}`);
    const enabled = setting === undefined ? null : parseBoolean(setting);
    if (enabled === null) {
      const got = setting === undefined ? 'nothing' : `\`${setting}\``;
      return problem(`expected the feature gate ${name} to be true or false, got ${got}; write ${name}=true`);
    }
    gates[name] = enabled;
  }
  return { kind: 'value', value: gates };
}

/** One line a gate, as Kubernetes' own programs list them in `--help`. */
export function describeFeatureGates(): string {
  return names
    .map((name) => `${name}=true|false (${featureGates[name].stage} - default=${featureGates[name].enabledByDefault})`)
    .join('\n');
}

function defaultFeatureGates(): FeatureGates {
  const defaults = names.map((name) => [name, featureGates[name].enabledByDefault]);
  return Object.fromEntries(defaults) as Record<FeatureGateName, boolean>;
}

function isFeatureGate(name: string): name is FeatureGateName {
  return Object.hasOwn(featureGates, name);
}

function problem(message: string): Parsed<FeatureGates> {
  return { kind: 'problem', message: `In --feature-gates: ${message}.` };
}
