import type { QuestionOf } from '../../core/questions.ts';
import type { ClusterSnapshot, Contention } from '../../core/snapshot.ts';
import { ApiError } from '../../kube/api-error.ts';
import { statefulSets } from '../../kube/resource.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import { clusterKind } from '../../moco/names.ts';
import { type TemplateChange, templateChanges } from '../../moco/template-changes.ts';
import type { Asking, Row } from './asking.ts';

// The question `details`: reads what the status shows only for users.

interface KnownDetails {
  /** The newest FailedCreate message of the StatefulSet. Kept while the rule `MemberMissing` holds. */
  readonly createFailure: { readonly message: string | null; readonly atMilliseconds: number } | null;
  /** What the rollout changes in the template. `changes` is `null` if the templates could not be read. */
  readonly template: {
    readonly from: string;
    readonly to: string;
    readonly changes: readonly TemplateChange[] | null;
    readonly atMilliseconds: number;
  } | null;
  /**
   * Why MOCO applies the StatefulSet again and again, for one generation of the MySQLCluster. Kept while it does so.
   */
  readonly altered: {
    readonly generation: number;
    readonly fields: Contention['fields'];
    readonly atMilliseconds: number;
  } | null;
}

/** Most missing members are created within this time, so nothing is read before. */
const readAfterSeconds = 10;
const staleAfterMilliseconds = 30_000;
/**
 * After this time some reads are repeated: those of templates that could not be read or that differ in more than the
 * status can show, and those of objects that MOCO applies again and again.
 */
const againMilliseconds = 300_000;

/** Details that are only for users and that no watch delivers. */
export const details: Row<'details', KnownDetails, Pick<ClusterSnapshot, 'createFailure'>> = {
  asks: 'the API server, only for users: why a member cannot be created (Events), what a rollout changes in the pod template (ControllerRevisions), and why MOCO writes the StatefulSet again and again (both objects)',
  lasts: `${staleAfterMilliseconds / 1000} s; templates and objects ${againMilliseconds / 1000} s`,
  silence: 'nothing: the detail is left out',
  initial: { createFailure: null, template: null, altered: null },
  ask: readDetails,
  facts: ({ createFailure }) => ({ createFailure: createFailure?.message ?? null }),
  confirm: null,
  status: { whileOutstanding: 'its hold', shows: '`rollout.changes`' },
};

type Question = QuestionOf<'details'>;

async function readDetails(question: Question, asking: Asking, known: KnownDetails): Promise<KnownDetails | null> {
  const createFailure = await readCreateFailure(question, asking, known.createFailure);
  const template = await readTemplate(asking, known.template);
  const altered = await readAlteredFields(question, asking, known.altered);
  const isKnown = createFailure === known.createFailure && template === known.template && altered === known.altered;
  return isKnown ? null : { createFailure, template, altered };
}

/** Resolves to `otherwise` if the API server refuses, because a missing detail must not delay anything. */
const orIfRefused = <Found>(read: Promise<Found>, otherwise: Found): Promise<Found> =>
  read.catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
    return otherwise;
  });

/**
 * Reads why the StatefulSet cannot create a member that has been missing for a while. If a quota, a policy or a webhook
 * refuses the pod, only an Event shows that. Resolves to the reason that is already known if there is nothing to read.
 */
async function readCreateFailure(
  question: Question,
  { observed: { objects, heldForSeconds }, api, world }: Asking,
  known: KnownDetails['createFailure'],
): Promise<KnownDetails['createFailure']> {
  const { statefulSet } = objects;
  const now = world.monotonic();
  if (!question.createFailure || statefulSet === null) return null;
  if (heldForSeconds < readAfterSeconds) return known;
  if (known !== null && now - known.atMilliseconds < staleAfterMilliseconds) return known;
  const message = await orIfRefused(api.readCreateFailure(statefulSet), known?.message ?? null);
  return { message, atMilliseconds: now };
}

/** Reads what the rollout changes in the pod template. Resolves to the known changes if there is nothing to read. */
async function readTemplate(
  { observed, api, world }: Asking,
  known: KnownDetails['template'],
): Promise<KnownDetails['template']> {
  const { rollout, objects } = observed;
  const { cluster, statefulSet } = objects;
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
 * Reads why MOCO applies the StatefulSet again and again, once for each generation of the MySQLCluster. Both objects
 * are read with all their fields and not kept. Resolves to the reason that is already known if there is nothing to
 * read.
 */
async function readAlteredFields(
  question: Question,
  { observed: { objects }, api, world }: Asking,
  known: KnownDetails['altered'],
): Promise<KnownDetails['altered']> {
  const { cluster, statefulSet } = objects;
  if (!question.contention || statefulSet === null) return null;
  const { namespace, name, generation } = cluster;
  const now = world.monotonic();
  if (known?.generation === generation && now - known.atMilliseconds < againMilliseconds) return known;
  const whole = await orIfRefused(api.read(clusterKind, { namespace, name }), null);
  const live = whole && (await orIfRefused(api.read(statefulSets, { namespace, name: statefulSet.name }), null));
  return { generation, fields: whole && live ? alteredFields(whole, live) : [], atMilliseconds: now };
}
