import { expect } from 'chai';
import { demoteAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { factsOf } from '../../support/moco/cluster-state.ts';
import { isTrue } from '../../support/moco/conditions.ts';
import { answers } from '../../support/moco/databases.ts';
import { candidates, isAvailable, stateOf } from '../../support/moco/decisions.ts';
import { ordinalOf } from '../../support/moco/names.ts';
import { byOrdinal, isReady } from '../../support/moco/pods.ts';
import { Story } from '../../support/moco/story.ts';
import { canonical } from './canonical.ts';
import * as c from './cells.ts';
import { environmentMoves } from './environment.ts';
import { Layout } from './layout.ts';
import { clusteringFacts } from './moco-moves.ts';
import { changes } from './story.ts';
import { Successors } from './successors.ts';
import { worldOf } from './world.ts';

// Both take MOCO's decisions from test/support/moco/decisions.ts. What differs is how they come to the facts, and what
// becomes of the members: whatever the stand-in does in a story, one transition after the other, the explorer can do too.

const replicas = 3;
const world = worldOf(replicas, { badRevision: false });
const layout = new Layout(world);
/** The stand-in does in one look what the model does in at most so many moves. */
const mostMoves = 3;

const phases: Readonly<Record<string, number>> = {
  watching: c.Phase.Watching,
  switchover: c.Phase.Switchover,
  failover: c.Phase.Failover,
  repointing: c.Phase.Repointing,
  labelling: c.Phase.Labelling,
  opening: c.Phase.Opening,
};

/** What both have in common: the model's cells, made from the stand-in's objects and its mind. */
function abstracted({ cluster, view, mind, faults }: Story): c.Cells {
  const cells = new Uint16Array(c.cellCount);
  const index = cluster.status?.currentPrimaryIndex ?? 0;
  cells[c.INDEX] = index;
  cells[c.PHASE] = phases[mind.activity.kind] ?? c.Phase.Watching;
  if (mind.activity.kind === 'switchover') cells[c.TO] = mind.activity.to;
  const conditions = cluster.status?.conditions;
  const { reason } = conditions?.find(({ type }) => type === 'Healthy') ?? {};
  const isUnserved = reason === 'Failed' || reason === 'Lost';
  cells[c.STATUS] = isTrue(conditions, 'Healthy')
    ? c.Status.Healthy
    : isTrue(conditions, 'Available')
      ? c.Status.Available
      : isUnserved
        ? c.Status.Unserved
        : c.Status.Poor;
  cells[c.TARGET] = 1;
  cells[c.COMPUTED] = 1;
  cells[c.SCALE] = c.Scale.Done;
  const followers = mind.databases.filter(
    (database, ordinal) => ordinal !== index && database.replicating && database.source === index,
  );
  const strangers = mind.databases.filter(
    (database, ordinal) => ordinal !== index && database.replicating && database.source !== index,
  );
  const { writable = false, source = null } = mind.databases[index] ?? {};
  cells[c.LEAD] = writable
    ? c.Lead.Open
    : strangers.length > 0 || (source !== null && followers.length === 0)
      ? c.Lead.Moved
      : source !== null
        ? c.Lead.Repointed
        : c.Lead.Closed;
  for (const pod of view.pods) {
    const ordinal = ordinalOf(pod.metadata.name);
    const database = mind.databases[ordinal];
    const terminating = pod.metadata.deletionTimestamp !== undefined;
    const runs = answers(mind.databases, ordinal, faults);
    const leads = ordinal === index;
    const role = pod.metadata.labels?.[roleLabel];
    const restarted = (pod.status?.containerStatuses?.[0]?.restartCount ?? 0) > 0;
    // A primary that a failing switchover has closed was configured all the same.
    const closed = role === 'primary' && !restarted;
    const configured = leads
      ? database?.writable === true || database?.source !== null || closed
      : database?.replicating === true;
    cells[c.HEALTH + ordinal] = terminating
      ? runs
        ? c.Health.Terminating
        : c.Health.Ending
      : !runs
        ? c.Health.Crashed
        : isReady(pod)
          ? c.Health.Serving
          : configured
            ? c.Health.Lagging
            : restarted
              ? c.Health.Retrying
              : c.Health.Up;
    cells[c.SETTLED + ordinal] = role === (leads ? 'primary' : 'replica') ? 1 : 0;
    const demoted = pod.metadata.annotations?.[demoteAnnotation] === 'true';
    cells[c.DEMOTE + ordinal] = demoted ? c.Demote.Foreign : c.Demote.None;
  }
  canonical(cells, cells, world);
  return cells;
}

/** What the decisions say on the facts that the stand-in makes, and on those that the explorer makes of the same moment. */
function decided({ cluster, view, mind, faults }: Story, cells: c.Cells): readonly [object, object] {
  const members = byOrdinal(view.pods);
  const snapshot = { cluster, members, databases: mind.databases, faults };
  const [one, other] = [factsOf(snapshot), clusteringFacts(cells, world)].map((facts) => {
    const state = stateOf(facts);
    return { state, stepsDown: facts.stepsDown, ...(isAvailable(state) && { candidates: candidates(facts) }) };
  }) as [object, object];
  return [one, other];
}

/** Deadlines and the budget are no part of MOCO. */
function text(cells: c.Cells): string {
  const shown = cells.slice();
  for (const at of [c.GRACE, c.TIMEOUT, c.OPEN, c.VERIFIED]) shown[at] = 0;
  const key = new Int32Array(layout.words);
  layout.pack(shown, 0, key);
  return key.join(' ');
}

/** Whether the model gets from one state to the other in a few moves. */
function canFollow(from: c.Cells, to: c.Cells): boolean {
  const wanted = text(to);
  let frontier = new Map([[text(from), from]]);
  const seen = new Set(frontier.keys());
  for (let moves = 0; moves <= mostMoves; moves++) {
    if (frontier.has(wanted)) return true;
    const next = new Map<string, c.Cells>();
    for (const cells of frontier.values()) {
      const out = new Successors();
      environmentMoves(cells, world, out);
      for (let number = 0; number < out.count; number++) {
        const state = (out.states[number] as c.Cells).slice();
        const key = text(state);
        if (!seen.has(key)) next.set(key, state);
        seen.add(key);
      }
    }
    frontier = next;
  }
  return false;
}

type Event = (story: Story) => void;

const events: Readonly<Record<string, Event>> = {
  'the primary is demoted': (story) => story.demote(story.cluster.status?.currentPrimaryIndex ?? 0),
  'member 1 lags': (story) => {
    story.faults = { ...story.faults, lagSeconds: { 1: 100 } };
  },
  'member 1 catches up': (story) => {
    story.faults = { ...story.faults, lagSeconds: {} };
  },
  "the primary's mysqld dies": (story) => story.killMysqld(story.cluster.status?.currentPrimaryIndex ?? 0),
  'all mysqld start again': (story) => {
    for (let ordinal = 0; ordinal < replicas; ordinal++) {
      if (!answers(story.mind.databases, ordinal, story.faults)) story.startMysqld(ordinal, restarts++);
    }
  },
  "member 2's pod is deleted": (story) => story.deletePod(2),
  'switchovers fail': (story) => {
    story.faults = { ...story.faults, switchover: 'failing' };
  },
  'switchovers work': (story) => {
    story.faults = { ...story.faults, switchover: 'working' };
  },
};

let restarts = 1;

/** Every transition of the story that the model can't follow, in words. */
function disagreements(names: readonly string[], lookMilliseconds: number): Reported {
  const story = Story.healthy(replicas);
  const found: string[] = [];
  let transitions = 0;
  let before = abstracted(story);
  for (const name of names) {
    events[name]?.(story);
    // What the script does is the world's doing, and not MOCO's.
    before = abstracted(story);
    for (let look = 0; look < 60; look++) {
      story.settle(lookMilliseconds);
      const after = abstracted(story);
      const [one, other] = decided(story, after);
      expect(other).to.deep.equal(one);
      if (text(after) !== text(before)) {
        transitions++;
        if (!canFollow(before, after)) found.push(`${name}: ${changes(before, after)}`);
      }
      before = after;
    }
  }
  return { found, transitions };
}

interface Reported {
  readonly found: readonly string[];
  readonly transitions: number;
}

describe("the explorer's MOCO can follow the stand-in for MOCO", () => {
  const names = Object.keys(events);
  for (const first of names) {
    for (const second of names) {
      it(`when ${first}, then ${second}`, () => {
        expect(disagreements([first, second], 25).found).to.deep.equal([]);
      });
    }
  }

  it('through every part of a switchover and of a failover', () => {
    const { transitions } = disagreements(['the primary is demoted', "the primary's mysqld dies"], 10);
    expect(transitions).to.be.greaterThan(9);
  });

  it('cannot follow states in another order', () => {
    const story = Story.healthy(replicas);
    const before = abstracted(story);
    const unlike = before.slice();
    unlike[c.INDEX] = 1;
    unlike[c.SETTLED] = 1;
    unlike[c.SETTLED + 1] = 1;
    expect(canFollow(before, unlike)).to.equal(false);
  });
});
