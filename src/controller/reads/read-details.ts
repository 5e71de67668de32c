import { ApiError } from '../../kube/api-error.ts';
import { statefulSets } from '../../kube/resource.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import { clusterKind } from '../../moco/names.ts';
import { templateChanges } from '../../moco/template-changes.ts';
import type { Readings } from '../facts/readings.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';

/**
 * Reads what no watch delivers and only users need: why a member cannot be created, what a rollout changes in the pod
 * template, and why MOCO writes the StatefulSet again and again. No step waits for it. Resolves to `null` while a step
 * is due, and if nothing is new.
 */
export async function readDetails(
  observed: Observation,
  pass: Pass,
): Promise<Pick<Readings, 'createFailure' | 'template' | 'altered'> | null> {
  if (observed.decision.step.kind !== 'none') return null;
  const known = pass.memory.readings;
  const createFailure = await readCreateFailure(observed, pass);
  const template = await readTemplate(observed, pass);
  const altered = await readAlteredFields(observed, pass);
  const isKnown = createFailure === known.createFailure && template === known.template && altered === known.altered;
  return isKnown ? null : { createFailure, template, altered };
}

/** What is only informative: if the API server refuses it, nothing else is delayed. */
const orIfRefused = <Found>(read: Promise<Found>, otherwise: Found): Promise<Found> =>
  read.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return otherwise;
  });

/** Most missing members are created sooner. */
const readAfterSeconds = 10;
const staleAfterMilliseconds = 30_000;

/**
 * Reads why the StatefulSet cannot create a member that has been missing for a while. Only an Event tells that a
 * quota, a policy or a webhook refuses the pod. Resolves to what was known if it need not be read.
 */
async function readCreateFailure(
  { objects: { statefulSet }, decision: { hold }, heldForSeconds }: Observation,
  { memory, api, context: { world } }: Pass,
): Promise<Readings['createFailure']> {
  const known = memory.readings.createFailure;
  const now = world.monotonic();
  if (hold?.rule !== 'MemberMissing' || statefulSet === null) return null;
  if (heldForSeconds < readAfterSeconds) return known;
  if (known !== null && now - known.atMilliseconds < staleAfterMilliseconds) return known;
  const message = await orIfRefused(api.readCreateFailure(statefulSet), known?.message ?? null);
  return { message, atMilliseconds: now };
}

/**
 * The delay before what could not be read is read again: templates, whose changes the status may have no room for, and
 * the objects that MOCO applies again and again.
 */
const againMilliseconds = 300_000;

/** Reads what the rollout changes in the pod template. Resolves to what was known if it need not be read. */
async function readTemplate(
  { rollout, objects: { cluster, statefulSet } }: Observation,
  { memory, api, context: { world } }: Pass,
): Promise<Readings['template']> {
  const known = memory.readings.template;
  const { revision: to, from, changes: shown } = rollout?.status?.rollout ?? {};
  if (to === undefined || from === undefined || shown !== undefined) return known;
  if (to !== statefulSet?.updateRevision) return known;
  const now = world.monotonic();
  if (known?.from === from && known.to === to && now - known.atMilliseconds < againMilliseconds) return known;
  const read = Promise.all([from, to].map((revision) => api.readTemplate(cluster.namespace, revision)));
  const [before, after] = await orIfRefused(read, []);
  return { from, to, changes: before && after ? templateChanges(before, after) : null, atMilliseconds: now };
}

/**
 * Reads once for each generation of the MySQLCluster why MOCO applies the StatefulSet again and again. Both objects are
 * read whole and not kept. Resolves to what was known if it need not be read.
 */
async function readAlteredFields(
  { snapshot, objects: { cluster, statefulSet } }: Observation,
  { memory, api, context: { world } }: Pass,
): Promise<Readings['altered']> {
  const known = memory.readings.altered;
  if (snapshot.contention === null || statefulSet === null) return null;
  const { namespace, name, generation } = cluster;
  const now = world.monotonic();
  if (known?.generation === generation && now - known.atMilliseconds < againMilliseconds) return known;
  const whole = await orIfRefused(api.read(clusterKind, { namespace, name }), null);
  const live = whole && (await orIfRefused(api.read(statefulSets, { namespace, name: statefulSet.name }), null));
  return { generation, fields: whole && live ? alteredFields(whole, live) : [], atMilliseconds: now };
}
