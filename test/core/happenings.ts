import type { Step } from '../../src/core/decision.ts';
import type { EffectKind } from '../../src/core/effects.ts';
import type { ClusterSnapshot, MemberFacts } from '../../src/core/snapshot.ts';
import { crashes, down, impaired, participates } from './judged-members.ts';

// What a write does to members, from the write and the facts alone: nothing here asks what decides, and of the names of
// steps only whether a member leaves its node. The effects that the core declares have to contain it.

export interface Happening {
  readonly kind: EffectKind;
  readonly member: MemberFacts;
}

/** The pod is to end for its node. The step gives nothing of a revision. */
export const leavesNode = (step: Step): boolean => 'rule' in step && step.rule === 'NodeLeaving';

const runs = ({ phase, containers }: MemberFacts): boolean =>
  phase !== 'Failed' && containers.some(({ part, state }) => part === 'mysqld' && state === 'running');

export function happenings(snapshot: ClusterSnapshot, step: Step): readonly Happening[] {
  const { cluster, members, statefulSet } = snapshot;
  const targets = 'targets' in step && step.kind !== 'undemote' ? step.targets : [];
  const primary = members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  const isUpdated = ({ revision }: MemberFacts): boolean => revision === statefulSet?.updateRevision;
  const writesGo = primary !== undefined && participates(snapshot, primary);
  return members
    .filter(({ ordinal }) => targets.some((target) => target.ordinal === ordinal))
    .flatMap((member) => {
      const leads = member === primary;
      const serves = participates(snapshot, member);
      const well = serves && !impaired(member);
      const broken = !serves && (down(snapshot, member) || crashes(member));
      const kinds: readonly (readonly [kind: EffectKind, happens: boolean])[] = [
        ['brings', step.kind !== 'demote' && step.kind !== 'restore' && (!leavesNode(step) || isUpdated(member))],
        ['removes', podGoes(step)],
        ['freesClaims', podGoes(step) || isUpdatedNext(step)],
        ['mustReturn', (podGoes(step) && runs(member)) || isUpdatedNext(step)],
        ['stops', podGoes(step) && runs(member)],
        ['reduces', (podGoes(step) || containersRestart(step)) && serves],
        ['takesHealthy', (podGoes(step) || containersRestart(step)) && well],
        ['leavesService', (podGoes(step) || containersRestart(step)) && member.ready],
        [
          'risks',
          step.kind !== 'restore' &&
            !leavesNode(step) &&
            (podGoes(step) || containersRestart(step) || step.kind === 'resizeInPlace') &&
            !broken &&
            writesGo,
        ],
        ['changesInPlace', step.kind === 'updateInPlace' || step.kind === 'resizeInPlace'],
        ['losesRelayLog', podGoes(step) && runs(member) && !leads],
        ['movesPrimary', (podGoes(step) || step.kind === 'demote') && leads && serves],
      ];
      return kinds.flatMap(([kind, happens]) => (happens ? [{ kind, member }] : []));
    });
}

/** A switchover before the update of the primary: its pod goes next. */
const isUpdatedNext = (step: Step): boolean => step.kind === 'demote' && !leavesNode(step);

const podGoes = ({ kind }: Step): boolean => ['delete', 'evict', 'setPartition', 'restore'].includes(kind);

function containersRestart(step: Step): boolean {
  if (step.kind === 'updateInPlace') return step.change.containers.length > 0;
  return step.kind === 'resizeInPlace' && step.resources.some(({ restarts }) => restarts);
}
