import { rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { clusterKind } from '../../moco/names.ts';

/** A group, a resource with its subresource, and verbs. */
export type Right = readonly [group: string, resource: string, verbs: readonly string[]];

const rollouts = (...verbs: readonly string[]): Right => [rolloutKind.group, rolloutKind.plural, verbs];
const clusters = (...verbs: readonly string[]): Right => [clusterKind.group, clusterKind.plural, verbs];

/** Clusters are found by name or listed, and a misspelt name is looked for among the others. */
const look = [clusters('get', 'list'), rollouts('get', 'list')];
const watch = [...look, clusters('watch'), rollouts('watch')];
/** What a decision is made from. Budgets, Jobs, claims, nodes and policies are done without, with a note. */
const decide: readonly Right[] = [
  ...look,
  ['', 'pods', ['get']],
  ['apps', 'statefulsets', ['get']],
  ['apps', 'controllerrevisions', ['get']],
];
const revisions: readonly Right[] = [...look, ['apps', 'controllerrevisions', ['list']]];
const set = [...look, rollouts('create', 'patch')];

/** The rights without which a command fails. `check` asks for them; test/cluster/rbac-users.test.ts compares both. */
export const rightsOfCommands: Readonly<Record<string, readonly Right[]>> = {
  status: look,
  get: look,
  wait: watch,
  report: look,
  diagnose: look,
  plan: decide,
  history: revisions,
  undo: [...revisions, ['apps', 'statefulsets', ['get']]],
  pause: set,
  resume: set,
  pin: set,
  unpin: set,
  approve: [...decide, ...set, rollouts('approve')],
  override: [...set, rollouts('override')],
  restore: [...decide, ...set],
  unrestore: set,
  release: [
    ...decide,
    clusters('patch'),
    [clusterKind.group, `${clusterKind.plural}/status`, ['update']],
    ['apps', 'statefulsets', ['list', 'patch']],
    ['apps', 'statefulsets/status', ['patch']],
    ['', 'pods', ['patch']],
  ],
  adopt: [...look, clusters('patch')],
};

/** The same of commands about all namespaces: a RoleBinding grants nothing of that. */
export const rightsInAllNamespaces: Readonly<Record<string, readonly Right[]>> = {
  sequence: [clusters('list'), rollouts('list'), [sequenceKind.group, sequenceKind.plural, ['list']]],
};
