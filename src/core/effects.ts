import { isAdopted } from './adoption.ts';
import { waitsToStart } from './away-by-node.ts';
import { hasNeverStarted } from './member.ts';
import type { Member, Situation } from './situation.ts';
import type { Step } from './step.ts';

// What each kind of step does to the cluster and to its members. These effects decide which gates the step has to pass,
// and whether it is confirmed.

/** The effects that a step can have on a cluster or on one of its members. The texts are for SPEC.md. */
export const effectKinds = {
  writes: 'something is written',
  acts: 'the rollout moves, in a mode in which this program moves it',
  rolls: 'the rollout reaches a member that may work: other clusters may have to go first',
  proceeds: 'more happens than the replacement of members that are down',
  adopts: 'this program begins to replace the pods of the StatefulSet',
  keeps: 'new pods start at the previous revision of their members',
  updatesNew: 'new pods start at the update revision',
  comesUpdated: 'a member whose pod another client deletes comes back at the update revision',
  restores: 'the pod of the member is replaced by one at its previous revision',
  handsOver: 'another program replaces the pods of the StatefulSet from now on',
  ends: 'the rollout is over',
  completes: 'the cluster counts as up to date and healthy',
  takesBack: 'a switchover that this program has requested is withdrawn',
  awaitsMoco: "MOCO's partition controller moves the rollout, and this program watches it",
  mocoTakes: "MOCO's partition controller is about to replace the member",
  keepsDemotion: 'a demotion that this program has requested continues',
  brings: 'the member gets something of the update revision, even if only its label',
  mustReturn: 'a mysqld that may be running stops, now or after a switchover, and another pod has to take its place',
  changesInPlace: 'the running pod of the member is changed',
  removes: 'the pod of the member goes',
  freesClaims: 'the pod of the member goes, now or after a switchover, and frees claims that nothing else keeps',
  risks: 'a working member, or one that may recover by itself, runs something of the update revision',
  interrupts:
    'the pod of a stale member that only waits for its node, or is still starting, ends before it could start',
  stops: 'a mysqld that may be running stops',
  reduces: 'one member fewer participates for a while',
  takesHealthy: 'the member participated without a failure',
  leavesService: 'the Service of the member has one endpoint fewer for a while',
  movesPrimary: 'writes move to another member, by a switchover or by a failover, or stop for a while',
  losesRelayLog:
    'a running replica loses its threads, and with them what it has received but not applied: MOCO sets `skip_replica_start`, and starts them again only once the cluster has a primary',
} as const;

export type EffectKind = keyof typeof effectKinds;

export interface Effect {
  readonly kind: EffectKind;
  /** `null` if the effect is on the cluster as a whole. */
  readonly member: Member | null;
}

/**
 * Whether a step with this effect is confirmed: everything is read again without a cache, and the step is done only if
 * the decision is still the same. The cache may be two minutes old, and may lack a pause or a member that serves again.
 * Steps that only protect members are not delayed by a confirmation.
 */
const needsFreshFacts: Readonly<Record<EffectKind, boolean>> = {
  writes: false,
  acts: false,
  rolls: true,
  proceeds: false,
  adopts: false,
  keeps: false,
  updatesNew: true,
  comesUpdated: true,
  restores: true,
  handsOver: true,
  ends: false,
  completes: false,
  takesBack: true,
  awaitsMoco: false,
  mocoTakes: false,
  keepsDemotion: false,
  brings: true,
  mustReturn: true,
  changesInPlace: true,
  removes: true,
  freesClaims: true,
  risks: true,
  interrupts: true,
  stops: true,
  reduces: true,
  takesHealthy: true,
  leavesService: true,
  movesPrimary: true,
  losesRelayLog: true,
};

/** Whether a step with these effects is confirmed. */
export const isConfirmed = (kinds: Iterable<EffectKind>): boolean => [...kinds].some((kind) => needsFreshFacts[kind]);

type OfStep<Kind extends Step['kind']> = Extract<Step, { readonly kind: Kind }>;
/**
 * The effects on each target of the step or, if `member` is `null`, on the cluster. The compiler demands a line for
 * each kind of step.
 */
type Table = {
  readonly [Kind in Step['kind']]: (situation: Situation, member: Member | null, step: OfStep<Kind>) => Kinds;
};
type Kinds = readonly EffectKind[];

const when = (holds: boolean, ...kinds: Kinds): Kinds => (holds ? kinds : []);

/** Effects of the step as a whole, no matter which members it changes. */
const moves: Kinds = ['writes', 'acts', 'proceeds'];

/** The member does not work and does not recover by itself, unlike a member that only lags behind. */
const isBroken = ({ state, participates, crashLoop }: Member): boolean =>
  state === 'down' || (!participates && crashLoop !== null);

/** The pod of the member ends, no matter who deletes it, and its successor starts at the update revision. */
function podGoes(situation: Situation, member: Member | null): Kinds {
  if (member === null) return ['writes', 'acts'];
  const { state, participates, primary: leads, facts } = member;
  const works = participates && state !== 'impaired';
  return [
    'brings',
    'removes',
    'freesClaims',
    ...when(state !== 'down', 'rolls', 'proceeds', 'stops', 'mustReturn'),
    // Writes have already stopped if there is no primary, and then every step is a repair.
    ...when(!isBroken(member) && situation.primary?.participates === true, 'risks'),
    ...when(waitsToStart(situation, member), 'interrupts'),
    ...when(participates, 'reduces'),
    ...when(works, 'takesHealthy'),
    ...when(works || facts.ready, 'leavesService'),
    ...when(participates && leads, 'movesPrimary'),
    // A crash-looping member also has this effect: MOCO can reach the member between two attempts, and MOCO fails over
    // only while it reaches enough members.
    ...when(state !== 'down' && !leads, 'losesRelayLog'),
  ];
}

/**
 * Containers of a running pod restart, or continue with the resources of the update revision. A lower memory limit may
 * get a container killed.
 */
const restartsInPlace: Kinds = [
  'rolls',
  'brings',
  'changesInPlace',
  'risks',
  'reduces',
  'takesHealthy',
  'leavesService',
];

/** The first half of the update of a primary. Only rules that hold every step can hold the second half. */
const isDemoted: Kinds = [
  'rolls',
  'brings',
  'freesClaims',
  'mustReturn',
  'risks',
  'reduces',
  'takesHealthy',
  'leavesService',
  'movesPrimary',
];

/** The role of primary leaves the node. The pod of the old primary stays, whether or not it is evicted later. */
const movesOff: Kinds = ['reduces', 'takesHealthy', 'leavesService', 'movesPrimary'];

/**
 * A member's pod ends because its node is being taken out of service. The next pod starts at the same revision, because
 * a stale member is only evicted while new pods keep its revision.
 */
const leavesNode = (situation: Situation, member: Member | null): Kinds =>
  podGoes(situation, member).filter(
    (kind) => kind !== 'rolls' && kind !== 'risks' && (kind !== 'brings' || member?.updated === true),
  );

const table: Table = {
  none: ({ policy }) => (policy.mode === 'MOCO' ? ['awaitsMoco', 'ends'] : ['acts', 'proceeds', 'ends']),
  undemote: (_, member, { demoted }) => (member === null ? ['writes'] : when(demoted, 'takesBack')),
  setStrategy: (situation, _, { newPods }) => {
    if (newPods === 'CurrentRevision') return ['writes', 'keeps'];
    return ['writes', isAdopted(situation.snapshot.statefulSet) ? 'updatesNew' : 'adopts'];
  },
  restore: (situation, member) => {
    if (member === null) return ['writes'];
    if (hasNeverStarted(member.facts)) return ['removes', 'freesClaims', 'restores'];
    return [...podGoes(situation, member).filter((kind) => kind !== 'brings' && kind !== 'risks'), 'restores'];
  },
  release: () => ['writes', 'handsOver'],
  promoteRevision: (situation, member, step) => {
    if (member !== null) return podGoes(situation, member);
    switch (step.for) {
      case 'start':
        return ['writes', 'acts'];
      case 'end':
        return [...moves, 'ends'];
      case 'release':
        return ['writes', 'handsOver'];
      case 'correction':
        return ['writes'];
      case 'keep':
        return ['writes', 'keeps'];
    }
  },
  delete: podGoes,
  evict: (situation, member, { rule }) => (rule === 'NodeLeaving' ? leavesNode : podGoes)(situation, member),
  setPartition: (situation, member, { targets }) => {
    if (situation.policy.mode === 'MOCO') return [member === null ? 'awaitsMoco' : 'mocoTakes'];
    // From now on, every new pod at the ordinal of the partition starts at the update revision.
    return member === null && targets.length === 0 ? [...moves, 'updatesNew'] : podGoes(situation, member);
  },
  updateInPlace: (_, member, { rule }) => {
    if (member === null) return moves;
    return rule === 'NothingRestarts' ? ['brings', 'changesInPlace'] : restartsInPlace;
  },
  resizeInPlace: (_, member) => (member === null ? moves : restartsInPlace),
  demote: (_, member, { rule }) => (member === null ? moves : rule === 'NodeLeaving' ? movesOff : isDemoted),
};

export const stepKinds = Object.keys(table) as readonly Step['kind'][];

/** The members whose pods are changed by this step or by the step that must follow it. */
export function membersOf({ members }: Situation, step: Step): readonly Member[] {
  const targets = 'targets' in step ? step.targets : step.kind === 'promoteRevision' ? step.before : [];
  const ordinals = targets.map(({ ordinal }) => ordinal);
  return members.filter(({ ordinal }) => ordinals.includes(ordinal));
}

export const kindsOf = (effects: readonly Effect[]): readonly EffectKind[] => [
  ...new Set(effects.map(({ kind }) => kind)),
];

/** Everything that the step does to each of its members, in the order of the effect kinds. */
export function effects(situation: Situation, step: Step): readonly Effect[] {
  const of = table[step.kind] as (situation: Situation, member: Member | null, step: Step) => Kinds;
  return [null, ...membersOf(situation, step)].flatMap((member) =>
    of(situation, member, step).map((kind) => ({ kind, member })),
  );
}
