import { expect } from 'chai';
import { Demotions } from './demotions.ts';
import { type Moment, nothing } from './moment.ts';
import type { WitnessedCluster, WitnessedPod, WitnessedStatefulSet } from './objects.ts';

const allowanceMilliseconds = 60_000;

interface Scene {
  readonly primary?: number;
  readonly paused?: boolean;
  readonly demoted?: boolean;
  readonly staleReplica?: boolean;
}

/** Two members; the mark is on member 0, which alone is stale. */
function at(
  seconds: number,
  { primary = 0, paused = false, demoted = true, staleReplica = false }: Scene = {},
): Moment {
  const object = (name: string) => ({ name, uid: name, resourceVersion: '1', namespace: 'default' });
  const pod = (ordinal: number, revision: string, annotations: Readonly<Record<string, string>>): WitnessedPod => ({
    metadata: { ...object(`moco-test-${ordinal}`), annotations, labels: { 'controller-revision-hash': revision } },
    spec: { containers: [] },
  });
  const mark = { 'moco.cybozu.com/demote': 'true', 'moco-rollout.io/demoted-for': 'new' };
  const cluster: WitnessedCluster = {
    metadata: object('test'),
    spec: { replicas: 2, podTemplate: { spec: { containers: [] } } },
    status: { currentPrimaryIndex: primary },
  };
  const statefulSet: WitnessedStatefulSet = {
    metadata: object('moco-test'),
    spec: { replicas: 2 },
    status: { updateRevision: 'new' },
  };
  const pods = [pod(0, 'old', demoted ? mark : {}), pod(1, staleReplica ? 'old' : 'new', {})];
  return {
    ...nothing,
    atMilliseconds: seconds * 1000,
    cluster,
    statefulSet,
    members: pods.map((one, ordinal) => ({
      pod: one,
      ordinal,
      notReadySince: new Map(),
      readyAtRestart: new Map(),
      resizingSince: null,
      resizedAt: null,
    })),
    settings: { metadata: object('test'), spec: { paused } },
  };
}

function judged(moments: readonly Moment[], impededUntilSeconds = 0): readonly string[] {
  const demotions = new Demotions(allowanceMilliseconds);
  demotions.impede(impededUntilSeconds * 1000);
  return moments
    .flatMap((moment) => demotions.observe(moment))
    .map(({ why, forMilliseconds }) => `${why} ${forMilliseconds}`);
}

describe('the witness of demotions', () => {
  it('accepts a demotion that is taken back in time, and one that waits for its switchover', () => {
    expect(judged([at(0), at(80), at(89, { primary: 1 }), at(140, { primary: 1, demoted: false })])).to.deep.equal([]);
  });

  const ended: readonly (readonly [why: string, scene: Scene])[] = [
    ['it was no longer primary', { primary: 1 }],
    ['the user had paused', { paused: true }],
    ['another member was due', { staleReplica: true }],
  ];
  for (const [why, scene] of ended) {
    it(`objects to one that stays on after ${why}, once`, () => {
      expect(judged([at(0), at(10, scene), at(70, scene), at(71, scene), at(200, scene)])).to.deep.equal([
        `${why} 61000`,
      ]);
    });
  }

  it('objects to a demotion whose switchover has not come within its time and the allowance', () => {
    expect(judged([at(0), at(90), at(91), at(152)])).to.deep.equal(['its time was over 61000']);
  });

  it('starts counting when the program can read and write again', () => {
    const moments = [at(0), at(10, { primary: 1 }), at(100, { primary: 1 }), at(150, { primary: 1 })];
    expect(judged(moments, 50)).to.deep.equal(['it was no longer primary 100000']);
    expect(judged(moments, 95)).to.deep.equal([]);
  });

  it('starts counting anew when the reason has returned', () => {
    const moments = [at(0), at(10, { paused: true }), at(50), at(60, { paused: true }), at(115, { paused: true })];
    expect(judged(moments)).to.deep.equal([]);
  });
});
