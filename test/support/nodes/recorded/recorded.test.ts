import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { Segment, Version } from './history.ts';
import type { PodWords } from './pod-words.ts';
import { fileOf } from './recording.ts';
import { played } from './stand-in-story.ts';
import { stories } from './stories.ts';

const folder = new URL('../../../fixtures/kubelet-recorded/', import.meta.url);

interface Recording {
  readonly segments: readonly {
    readonly act: string;
    readonly versions: readonly (Readonly<Record<string, string | null>> | null)[];
  }[];
}

/** Where the stand-ins' nodes say something else, by `story: act: word`, and why no rule can be wrong for it. */
const differences: readonly (readonly [what: RegExp, why: string])[] = [
  [/: PodReadyToStartContainers: /, 'No program reads this condition.'],
  [/: DisruptionTarget( generation)?: /, 'No program reads this condition of a pod that is terminating.'],
  [/: Ready generation: /, 'No program reads which generation Ready is of; here a node controller writes its own.'],
  [/create: first( container)?: (waiting|none)/, 'Here the first init container runs at once.'],
  [
    /: mysqld: (.* > )?running started > running started ready, /,
    'Here the first probe passes at once. MOCO’s has a startup probe before.',
  ],
  [/(OOMKilled 137|Unknown 255).*, here terminated Error 1/, 'No program reads how a container has ended.'],
  [
    /: PodResizeInProgress: True( >|,)/,
    'A container with other resources than those of its spec is awaited, with this condition or without.',
  ],
  [
    /: PodResizePending( generation)?: .*(no more|older)/,
    'A condition of an older generation counts for nothing (resizeOf).',
  ],
  [/resize mysqld .*"7".*: (Ready|ContainersReady|mysqld): /, 'The recording had to restart the kubelet for it.'],
  [
    /: (agent|slow-log): waiting .*(CrashLoopBackOff|ErrImagePull)/,
    'The three reasons follow each other as back-offs end. They all mean that it does no work (stoppedReasons).',
  ],
  [
    /missing: (agent|slow-log) image: nothing|missing: \d+ .*subject:1: agent image: nothing/,
    'Images are read from the spec.',
  ],
  [
    /slow to pull: 7 registry true: (Ready|ContainersReady): True > False/,
    'mysqld was ready for a moment before it was killed: its probe is asked every second there, and every ten by MOCO.',
  ],
  [/deleted while it has no image: 2 delete: /, 'A terminating pod is nothing else.'],
  [/stays away: 3 kubelet true: (Ready|ContainersReady|mysqld): /, 'A terminating pod is nothing else.'],
];

describe('the stand-ins’ nodes, compared with recordings of kubelets', () => {
  const found = new Set<string>();

  for (const [name, story] of Object.entries(stories)) {
    it(`say alike of a pod that ${name}`, () => {
      const [recorded, own] = [tracksOf(recording(name)), tracksOf(played(story))];
      const others = [...new Set([...Object.keys(recorded), ...Object.keys(own)])]
        .filter((key) => !isDeepStrictEqual(recorded[key], own[key]))
        .map((key) => `${name}: ${key}: ${says(recorded[key])}, here ${says(own[key])}`);
      for (const difference of others) found.add(difference);
      expect(others.filter((difference) => !differences.some(([what]) => what.test(difference)))).to.deep.equal([]);
    });
  }

  it('differ where this file says so', () => {
    const gone = differences.filter(([what]) => ![...found].some((difference) => what.test(difference)));
    expect(gone).to.deep.equal([]);
  });
});

function recording(name: string): readonly Segment[] {
  const text = readFileSync(new URL(fileOf(name), folder), 'utf8');
  let before: PodWords = {};
  return (JSON.parse(text) as Recording).segments.map(({ act, versions }) => ({
    act,
    versions: versions.map((changed): Version => {
      if (changed === null) return null;
      const words = Object.entries({ ...before, ...changed });
      before = Object.fromEntries(words.filter((entry): entry is [string, string] => entry[1] !== null));
      return before;
    }),
  }));
}

/** By act and word, what it said one after the other, from the end of the act before. */
function tracksOf(segments: readonly Segment[]): Readonly<Record<string, readonly string[]>> {
  const found: Record<string, string[]> = {};
  let before: PodWords = {};
  for (const [index, { act, versions }] of segments.entries()) {
    for (const version of versions) {
      const is: PodWords = version ?? { gone: 'yes' };
      const keys = version === null ? ['gone'] : new Set([...Object.keys(before), ...Object.keys(is)]);
      for (const key of keys) {
        if (before[key] === is[key]) continue;
        const track = `${index + 1} ${act}: ${key}`;
        found[track] = [...(found[track] ?? []), is[key] ?? 'no more'];
      }
      before = is;
    }
  }
  return found;
}

function says(track: readonly string[] | undefined): string {
  return track === undefined ? 'nothing' : track.join(' > ');
}
