import * as z from 'zod';
import { rolloutKind, rolloutSpec } from '../src/api/rollout.ts';
import { policyKind, policySpec, policyStatus } from '../src/api/rollout-policy.ts';
import { sequenceKind, sequenceSpec, sequenceStatus } from '../src/api/rollout-sequence.ts';
import { rolloutStatus } from '../src/api/rollout-status.ts';

// Generates the CRDs in config/crd and in the Helm chart from the schemas in src/api.

/** The part of OpenAPI that the CRDs use. */
export interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly rule: string; readonly message: string }[];
  readonly [more: string]: unknown;
}

type Column = readonly [
  name: string,
  type: 'string' | 'integer' | 'boolean' | 'date',
  path: string,
  description: string,
];

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

interface Source {
  readonly kind: Kind;
  readonly shortName: string;
  readonly description: string;
  readonly spec: z.ZodType;
  readonly status?: z.ZodType;
  readonly columns: readonly Column[];
  /** Columns that only `-o wide` shows. */
  readonly wideColumns?: readonly Column[];
}

export interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly [more: string]: unknown };
    readonly versions: readonly [Version];
    readonly [more: string]: unknown;
  };
  readonly [more: string]: unknown;
}

interface Version {
  readonly name: string;
  readonly additionalPrinterColumns: readonly { readonly jsonPath: string; readonly priority?: number }[];
  readonly schema: { readonly openAPIV3Schema: Schema };
  readonly [more: string]: unknown;
}

const age: Column = ['Age', 'date', '.metadata.creationTimestamp', 'The age of this object.'];

const sources: readonly Source[] = [
  {
    kind: policyKind,
    shortName: 'mrop',
    description:
      'MySQLRolloutPolicy contains settings for the rollouts of many MySQLClusters: defaults, and settings that cannot be overridden.',
    spec: policySpec,
    status: policyStatus,
    columns: [
      ['Priority', 'integer', '.spec.priority', 'Which of several policies has precedence.'],
      ['Strategy', 'string', '.spec.settings.strategy', 'The default for who replaces pods.'],
      [
        'Enforced-Paused',
        'boolean',
        '.spec.enforced.paused',
        'Whether rollouts are paused, regardless of their MySQLRollouts.',
      ],
      ['Clusters', 'integer', '.status.clusters', 'The number of MySQLClusters that the policy selects.'],
      ['Members', 'integer', '.status.members', 'The number of members of these clusters.'],
      ['Readable', 'string', '.status.conditions[?(@.type=="Readable")].status', 'Whether every field is valid.'],
      age,
    ],
    wideColumns: [
      ['Paused', 'boolean', '.spec.settings.paused', 'Whether rollouts are paused by default.'],
      ['Selects', 'string', '.status.conditions[?(@.type=="Selects")].message', 'Why the policy selects nothing.'],
      ['Problem', 'string', '.status.conditions[?(@.type=="Readable")].message', 'The first field that is not valid.'],
    ],
  },
  {
    kind: sequenceKind,
    shortName: 'mros',
    description:
      'MySQLRolloutSequence defines which MySQLClusters begin their rollouts first, and how long these must stay healthy ' +
      'before the next ones begin.',
    spec: sequenceSpec,
    status: sequenceStatus,
    columns: [
      ['Stage', 'string', '.status.stage', 'The first stage that is not complete.'],
      ['Clusters', 'integer', '.status.clusters', 'The number of clusters of the sequence.'],
      ['Up-To-Date', 'integer', '.status.upToDateClusters', 'The number of clusters that are up to date and healthy.'],
      ['Rolling', 'integer', '.status.rollingClusters', 'The number of clusters whose rollout has begun.'],
      ['Failing', 'integer', '.status.failingClusters', 'The number of clusters whose rollout fails.'],
      ['Ready', 'string', '.status.conditions[?(@.type=="Ready")].status', 'Whether every stage is complete.'],
      age,
    ],
    wideColumns: [
      ['Reason', 'string', '.status.conditions[?(@.type=="Ready")].reason', 'Why not every stage is complete.'],
      ['Stalled', 'string', '.status.conditions[?(@.type=="Stalled")].status', 'Whether a person has to act.'],
      ['Message', 'string', '.status.conditions[?(@.type=="Ready")].message', 'What the sequence waits for.'],
    ],
  },
  {
    kind: rolloutKind,
    shortName: 'mro',
    description:
      'MySQLRollout contains the settings for the rollouts of the MySQLCluster with the same name and namespace, and shows ' +
      'how far the rollout is. If it does not exist, the controller creates it. The controller never changes its spec.',
    spec: rolloutSpec,
    status: rolloutStatus,
    columns: [
      ['Phase', 'string', '.status.phase', 'What the rollout is doing, in one word for people.'],
      ['Strategy', 'string', '.status.strategy', 'The update strategy in force.'],
      ['Updated', 'integer', '.status.updatedReplicas', 'The number of members at the update revision.'],
      ['Replicas', 'integer', '.status.replicas', 'The number of members that the cluster should have.'],
      ['Primary', 'integer', '.status.primary', 'The ordinal of the primary.'],
      ['Hold', 'string', '.status.hold.rule', 'The rule that holds the rollout.'],
      age,
    ],
    wideColumns: [
      ['Ready', 'string', '.status.conditions[?(@.type=="Ready")].status', 'Whether the rollout is complete.'],
      ['Participating', 'integer', '.status.participatingReplicas', 'The number of members that participate.'],
      ['Revision', 'string', '.status.updateRevision', 'The update revision.'],
      ['MySQL', 'string', '.status.mysqlVersion', 'The newest version of mysqld among the members.'],
      ['Started', 'date', '.status.rollout.startedAt', 'How long ago the current rollout started.'],
      ['Switchovers', 'integer', '.status.rollout.switchovers', 'The number of switchovers in the current rollout.'],
      ['Held', 'date', '.status.hold.since', 'For how long the rule has held the rollout.'],
      ['Message', 'string', '.status.hold.message', 'What the rule waits for.'],
    ],
  },
];

/** Each CRD by its file name. */
export function definitions(): Readonly<Record<string, Definition>> {
  return Object.fromEntries(
    sources.map((source) => [`${source.kind.group}_${source.kind.plural}.yaml`, definitionOf(source)]),
  );
}

function definitionOf(source: Source): Definition {
  const { group, version, plural, kind, namespaced } = source.kind;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [source.shortName],
        // Not in the category `all`, because that lists workloads. `kubectl get moco` shows the settings and the
        // rollouts together.
        categories: ['moco'],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          ...(source.status && { subresources: { status: {} } }),
          additionalPrinterColumns: [
            ...source.columns.map(columnOf),
            ...(source.wideColumns ?? []).map((column) => ({ ...columnOf(column), priority: 1 })),
          ],
          schema: { openAPIV3Schema: objectSchema(source) },
        },
      ],
    },
  };
}

const columnOf = ([name, type, jsonPath, description]: Column) => ({ name, type, description, jsonPath });

function objectSchema({ kind, description, spec, status }: Source): Schema {
  return {
    type: 'object',
    description,
    properties: {
      apiVersion: { type: 'string', description: 'The version of the schema of this object.' },
      kind: { type: 'string', description: `The kind of this object, ${kind.kind}.` },
      metadata: { type: 'object' },
      spec: structural(spec),
      ...(status && { status: structural(status) }),
    },
  };
}

/** A structural schema: contains only what a CRD may contain, with type and description first. */
function structural(schema: z.ZodType): Schema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    unrepresentable: 'any',
    reused: 'inline',
    override: ({ jsonSchema }) => {
      const { type, description, ...rest } = jsonSchema;
      for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
      Object.assign(jsonSchema, type && { type }, description && { description }, rest);
    },
  });
  return JSON.parse(JSON.stringify(made));
}
