import { isAdopted } from './adoption.ts';
import { hasNeverStarted } from './member.ts';
import type { Member, Situation } from './situation.ts';
import type { Step } from './step.ts';

// What each kind of step does to the cluster and to its members. Gates and confirmation follow from it.

/** What a step does to a cluster or to one of its members. The text is for SPEC.md. */
export const effectKinds = {
  writes: 'something is written',
  acts: 'the rollout moves, in a mode in which this program moves it',
  proceeds: 'more happens than the replacement of members that are down',
  adopts: 'this program begins to replace the pods of the StatefulSet',
  keeps: 'new pods start at the previous revision of their members',
  updatesNew: 'new pods start at the update revision',
  comesUpdated: 'a member whose pod somebody else deletes comes back at the update revision',
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
 * Whether a step with this effect is confirmed: everything is read again without a cache, and the step continues only
 * if the decision is still the same. The cache may be two minutes old, and then miss a member that serves again, or a
 * pause. Steps that only protect members are not delayed by a confirmation.
 */
const needsFreshFacts: Readonly<Record<EffectKind, boolean>> = {
  writes: false,
  acts: false,
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
 * The effects on each target of the step, or on the cluster (`member` is `null`). The compiler demands a line for each
 * kind of step.
 */
type Table = {
  readonly [Kind in Step['kind']]: (situation: Situation, member: Member | null, step: OfStep<Kind>) => Kinds;
};
type Kinds = readonly EffectKind[];

const when = (holds: boolean, ...kinds: Kinds): Kinds => (holds ? kinds : []);

/** Effects of the step as a whole, no matter which members it changes. */
const moves: Kinds = ['writes', 'acts', 'proceeds'];

/** It does not work and will not recover by itself, unlike a member that only lags behind. */
const isBroken = ({ state, participates, crashLoop }: Member): boolean =>
  state === 'down' || (!participates && crashLoop !== null);

/** The pod of the member ends, no matter who deletes it, and its successor starts at the update revision. */
function podGoes({ primary }: Situation, member: Member | null): Kinds {
  if (member === null) return ['writes', 'acts'];
  const { state, participates, primary: leads, facts } = member;
  const works = participates && state !== 'impaired';
  return [
    'brings',
    'removes',
    'freesClaims',
    ...when(state !== 'down', 'proceeds', 'stops', 'mustReturn'),
    // Without a primary writes have stopped, and every step is a repair.
    ...when(!isBroken(member) && primary?.participates === true, 'risks'),
    ...when(participates, 'reduces'),
    ...when(works, 'takesHealthy'),
    ...when(works || facts.ready, 'leavesService'),
    ...when(participates && leads, 'movesPrimary'),
    // Also between two attempts of a crash loop: MOCO can reach the member, and fails over only while it reaches enough
    // members.
    ...when(state !== 'down' && !leads, 'losesRelayLog'),
  ];
}

/**
 * Containers of a running pod restart, or continue with the revision's resources: a lower memory limit may get one
 * killed.
 */
const restartsInPlace: Kinds = ['brings', 'changesInPlace', 'risks', 'reduces', 'takesHealthy', 'leavesService'];

/** The first half of an update: only rules that hold every step also hold the second half. */
const isDemoted: Kinds = [
  'brings',
  'freesClaims',
  'mustReturn',
  'risks',
  'reduces',
  'takesHealthy',
  'leavesService',
  'movesPrimary',
];

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
  evict: podGoes,
  setPartition: (situation, member, { targets }) => {
    if (situation.policy.mode === 'MOCO') return [member === null ? 'awaitsMoco' : 'mocoTakes'];
    // Every pod created at that ordinal from now on starts updated.
    return member === null && targets.length === 0 ? [...moves, 'updatesNew'] : podGoes(situation, member);
  },
  updateInPlace: (_, member, { rule }) => {
    if (member === null) return moves;
    return rule === 'NothingRestarts' ? ['brings', 'changesInPlace'] : restartsInPlace;
  },
  resizeInPlace: (_, member) => (member === null ? moves : restartsInPlace),
  demote: (_, member) => (member === null ? moves : isDemoted),
};

export const stepKinds = Object.keys(table) as readonly Step['kind'][];

/** The members on whose pods the step, or the next one, acts. */
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
