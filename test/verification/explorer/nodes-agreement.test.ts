import { expect } from 'chai';
import { Deadlines } from '../../../src/core/deadlines.ts';
import { classify, crashLoop } from '../../../src/core/member.ts';
import * as c from './cells.ts';
import { environmentMoves } from './environment.ts';
import { Layout } from './layout.ts';
import { PodStory } from './pod-story.ts';
import { Successors } from './successors.ts';
import { memberFacts } from './view.ts';
import { beginnings, worldOf } from './world.ts';

// The explorer's nodes are no third opinion either: whatever one pod of the stand-in for nodes goes through in a story,
// as the classifier sees it, a member of the model can go through too.

const ordinal = 1;
const families: ReadonlySet<'impaired'> = new Set(['impaired'] as const);
const world = worldOf(3, { badRevision: false, folded: false, families });
const layout = new Layout(world);
/** How many moves the model may make between two observations of a pod without being seen. */
const mostMoves = 5;

function shown(cells: c.Cells): string {
  if (cells[c.HEALTH + ordinal] === c.Health.Missing) return 'missing';
  const member = memberFacts(cells, ordinal);
  const { state } = classify(member, false, new Deadlines());
  return crashLoop(member) === null || state === 'terminating' ? state : `${state}, crash-looping`;
}

function keyOf(cells: c.Cells): string {
  const key = new Int32Array(layout.words);
  layout.pack(cells, 0, key);
  return key.join(' ');
}

/** The other members stay as they are. */
const onlyThisMember = (before: c.Cells, after: c.Cells): boolean =>
  [0, 2].every((other) => before[c.HEALTH + other] === after[c.HEALTH + other]);

/** Every state in which the member shows `wanted` after a few moves, having shown `was` until then or been between. */
function follow(from: readonly c.Cells[], wanted: string): readonly c.Cells[] {
  const seen = new Map(from.map((cells) => [keyOf(cells), cells]));
  let frontier = [...seen.values()];
  const out = new Successors();
  for (let moves = 0; moves < mostMoves; moves++) {
    const next: c.Cells[] = [];
    for (const cells of frontier) {
      environmentMoves(cells, world, out);
      for (let number = 0; number < out.count; number++) {
        const state = (out.states[number] as c.Cells).slice();
        const key = keyOf(state);
        if (seen.has(key) || !onlyThisMember(cells, state)) continue;
        seen.set(key, state);
        next.push(state);
      }
    }
    frontier = next;
  }
  return [...seen.values()].filter((cells) => shown(cells) === wanted);
}

/** What was seen up to where the model can't follow; empty where it always can. */
function disagreement(seen: readonly string[]): readonly string[] {
  let states: readonly c.Cells[] = beginnings(world).slice(0, 1);
  for (const [at, wanted] of seen.entries()) {
    states = follow(states, wanted);
    if (states.length === 0) return seen.slice(0, at + 1);
  }
  return [];
}

const events: Readonly<Record<string, (story: PodStory) => void>> = {
  'mysqld is killed and stays away': (story) => story.fault('mysqld', 'dead'),
  'mysqld crashes again and again': (story) => {
    story.mysqldServes = false;
    story.fault('mysqld', 'crashLoop');
  },
  'mysqld lags behind': (story) => story.fault('mysqld', 'notReady'),
  'the agent is killed': (story) => story.fault('agent', 'dead'),
  'a sidecar crashes again and again': (story) => story.fault('slow-log', 'crashLoop'),
  'everything is well again': (story) => {
    story.faults = { ...story.faults, containers: {} };
    story.pass(5000);
    story.mysqldServes = true;
  },
  'the node is lost': (story) => {
    story.faults = { ...story.faults, nodeLost: true };
  },
  'the node comes back': (story) => {
    story.faults = { ...story.faults, nodeLost: false };
  },
  'the pod is deleted, and another one is made': (story) => {
    story.mysqldServes = false;
    story.askDeletion().pass(5000);
    story.create();
  },
};

function reported(names: readonly string[]): PodStory {
  const story = new PodStory();
  story.create();
  story.pass(120_000);
  story.seen.splice(0, story.seen.length - 1);
  for (const name of names) {
    events[name]?.(story);
    story.pass(30_000);
  }
  return story;
}

describe("the explorer's members can follow the stand-in for nodes", () => {
  const names = Object.keys(events);
  for (const first of names) {
    for (const second of names) {
      it(`when ${first}, then ${second}`, () => {
        const { seen } = reported([first, second]);
        expect(disagreement(seen)).to.deep.equal([]);
      });
    }
  }

  it('through every state that a pod can show', () => {
    const seen = new Set(names.flatMap((first) => names.flatMap((second) => reported([first, second]).seen)));
    expect([...seen]).to.include.members([
      'participating',
      'impaired',
      'running',
      'unreachable',
      'terminating',
      'missing',
    ]);
    expect([...seen].some((state) => state.startsWith('down'))).to.equal(true);
    expect([...seen].some((state) => state.endsWith('crash-looping'))).to.equal(true);
  });

  it('cannot follow states in another order', () => {
    expect(disagreement(['participating', 'missing', 'unreachable'])).to.deep.equal([
      'participating',
      'missing',
      'unreachable',
    ]);
  });
});
