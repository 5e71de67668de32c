import { demotedForAnnotation } from '../../src/moco/names.ts';
import { controllerUser, storyOf } from '../../test/cluster/rollout-story.ts';
import type { Disruption } from '../../test/witness/disruption.ts';
import { type Change, ordinalOf } from '../../test/witness/moment.ts';
import { Witness } from '../../test/witness/witness.ts';
import type { AuditEvent } from '../control-plane/control-plane.ts';
import type { Asked } from './store-clock.ts';

/** All that is known of one cluster, from the API server alone but for when processes began to ask. */
export interface Evidence {
  readonly namespace: string;
  readonly cluster: string;
  /** In the order of the store. */
  readonly changes: readonly Change[];
  readonly audit: readonly AuditEvent[];
  readonly asked: readonly Asked[];
  /** As often may the primary have moved. */
  readonly mostSwitchovers: number;
  readonly ended: boolean;
}

export interface Verdict {
  readonly witness: Witness;
  /** What the controller has done to the cluster. */
  readonly steps: number;
  readonly disruptions: number;
  readonly needless: number;
  readonly switchovers: number;
  /** A line a deed, with the time of day before it. */
  readonly story: readonly string[];
}

/** Refused, so that nothing can have been done. */
const refused: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 422, 429]);

/** Has the witness see everything in the order of the store. */
export function judge(evidence: Evidence): Verdict {
  const { namespace, cluster, changes, audit, ended, mostSwitchovers } = evidence;
  const witness = new Witness();
  const disruptions = disruptionsOf(evidence, witness).toSorted((one, other) => one.before - other.before);
  let next = 0;
  for (const change of changes) {
    for (; next < disruptions.length; next++) {
      const disruption = disruptions[next];
      if (disruption === undefined || disruption.before >= change.revision) break;
      witness.disrupted(disruption);
    }
    witness.observe(change);
  }
  for (const disruption of disruptions.slice(next)) witness.disrupted(disruption);
  const key = `${namespace}/${cluster}`;
  const { atMilliseconds, members } = witness.latest(key);
  for (const { pod } of ended ? members : []) {
    if (pod.metadata.annotations?.[demotedForAnnotation] === undefined) continue;
    witness.object('I12', `a demotion of ours outlived the rollout on ${pod.metadata.name}`, atMilliseconds);
  }
  const measures = witness.measures(key, 0);
  if (measures.switchovers > mostSwitchovers) {
    const text = `${measures.switchovers} switchovers where ${mostSwitchovers} would do`;
    witness.object('I8', text, atMilliseconds);
  }
  const story = storyOf(audit, namespace);
  return {
    witness,
    steps: story.filter(({ by, code }) => by === 'controller' && code < 300).length,
    disruptions: disruptions.length,
    needless: measures.needless,
    switchovers: measures.switchovers,
    story: story.map(({ at, by, text }) => `${at.slice(11, 23)} ${by.padEnd(10)} ${text}`),
  };
}

/** Those that the API server has carried out, whatever it has answered. */
function disruptionsOf({ namespace, cluster, changes, audit, asked }: Evidence, witness: Witness): Disruption[] {
  const requests = audit.filter(
    ({ user, stage, objectRef, verb }) =>
      user.username === controllerUser &&
      stage === 'ResponseComplete' &&
      objectRef?.namespace === namespace &&
      objectRef.resource === 'pods' &&
      (verb === 'delete' || objectRef.subresource === 'eviction'),
  );
  const agreed = new Set(requests.filter(isAgreed).map(uidOf));
  const counted = new Set<string>();
  return requests.flatMap((event): Disruption[] => {
    const uid = uidOf(event);
    const receivedAt = Date.parse(event.requestReceivedTimestamp);
    if (uid === undefined) {
      witness.object('I9', `${event.verb} ${event.objectRef?.name} carried no uid and resourceVersion`, receivedAt);
      return [];
    }
    const left = changes.find(({ identity, object }) => {
      const { metadata } = identity;
      return metadata.uid === uid && (object === null || metadata.deletionTimestamp !== undefined);
    });
    if (left === undefined || refused.has(event.responseStatus?.code ?? 0)) return [];
    // No answer, or one that says nothing: whatever took the pod away may have been this, or a request that succeeded.
    if (!isAgreed(event) && agreed.has(uid)) return [];
    const actor = event.userAgent?.split(' ').at(-1) ?? '';
    const began = asked.findLast(
      (one) => one.actor === actor && one.namespace === namespace && one.atMilliseconds <= receivedAt + 1,
    );
    if (began === undefined) {
      witness.object('I9', `${event.verb} ${event.objectRef?.name} by ${actor} was not confirmed`, receivedAt);
      return [];
    }
    const isFirst = !counted.has(uid);
    counted.add(uid);
    const later = changes.findLast(({ atMilliseconds }) => atMilliseconds <= receivedAt);
    const before = isFirst ? left.revision - 1 : (later?.revision ?? left.revision);
    return [
      {
        verb: event.verb === 'delete' ? 'delete' : 'evict',
        actor,
        cluster: `${namespace}/${cluster}`,
        uid,
        ordinal: ordinalOf(event.objectRef?.name ?? ''),
        confirmingSince: { revision: began.revision, atMilliseconds: began.atMilliseconds },
        before,
        atMilliseconds: left.atMilliseconds,
      },
    ];
  });
}

function isAgreed({ responseStatus }: AuditEvent): boolean {
  const code = responseStatus?.code ?? 0;
  return code >= 200 && code < 300;
}

interface Preconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** Of the preconditions; `undefined` where they don't name one very version of the pod. */
function uidOf({ requestObject }: AuditEvent): string | undefined {
  const { preconditions, deleteOptions } = requestObject as {
    readonly preconditions?: Preconditions;
    readonly deleteOptions?: { readonly preconditions?: Preconditions };
  };
  const { uid, resourceVersion } = preconditions ?? deleteOptions?.preconditions ?? {};
  return resourceVersion === undefined ? undefined : uid;
}
