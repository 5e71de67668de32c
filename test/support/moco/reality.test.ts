import { readdirSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { type Chapter, creation } from './chronicle.ts';
import { ordinalOf } from './names.ts';
import { fastClustering } from './settings.ts';
import { Story } from './story.ts';

// Histories of real servers, recorded by `make reality`, and what the stand-in makes of the same acts. Compared is the
// order of role labels, conditions with their reasons, the primary's index, `demote` and readiness. What is chance in
// both, such as which replica has caught up first, is taken from the recording.

interface Recorded {
  readonly mysqld: string;
  readonly chapters: readonly Chapter[];
}

/** What was done, and to which member. */
type Act = (story: Story, ordinal: number, lines: readonly string[]) => void;

const folder = new URL('../../fixtures/moco-reality/', import.meta.url);
/** A lag with which no replica is ready. */
const behindSeconds = 100;
const { notice, silence, drain, failedTry, retry, repoint, label, open, healthyTrue } = fastClustering;

const acts: readonly (readonly [act: RegExp, perform: Act])[] = [
  [
    new RegExp(`^${creation}$`),
    (story, _, lines) => {
      const replicas = story.view.pods.map(({ metadata }) => ordinalOf(metadata.name)).slice(1);
      story.faults = { ...story.faults, lagSeconds: Object.fromEntries(replicas.map((one) => [one, behindSeconds])) };
      story.settle();
      story.startAll();
      story.settle();
      catchUp(story, lines);
    },
  ],
  [
    /^kills mysqld of member (\d) and keeps it down$/,
    (story, ordinal) => {
      story.killMysqld(ordinal);
      story.settle();
    },
  ],
  [
    /^lets mysqld of member (\d) start again$/,
    (story, ordinal) => {
      story.startMysqld(ordinal, 1);
      story.settle();
    },
  ],
  [
    // The kubelet starts it again before MOCO gives up asking.
    /^kills mysqld of member (\d)$/,
    (story, ordinal) => {
      story.killMysqld(ordinal);
      story.settle(notice + silence / 2);
      story.startMysqld(ordinal, 1);
      story.settle();
    },
  ],
  // MOCO asks replicas for nothing before a switchover.
  [/^member (\d) receives and applies nothing$/, (story) => story.settle()],
  [
    /^demotes member (\d)$/,
    (story, ordinal, lines) => {
      story.demote(ordinal);
      story.reported.push(`${ordinal} demote true`);
      if (lines.length > 1) failOnce(story);
      else story.settle(notice + drain / 2);
    },
  ],
  [/^member (\d) applies again$/, (story) => story.settle()],
];

function perform(story: Story, { act, lines }: Chapter): readonly string[] {
  for (const [pattern, what] of acts) {
    const found = pattern.exec(act);
    if (found === null) continue;
    story.reported.length = 0;
    what(story, Number(found[1]), lines);
    return story.reported.filter((line) => !isHidden(line));
  }
  throw new Error(`Expected something to do for "${act}", found nothing`);
}

/** One try fails. The member that is to lead catches up in the next one, which has begun by then. */
function failOnce(story: Story): void {
  story.faults = { ...story.faults, switchover: 'failing' };
  story.settle(notice + failedTry + retry + repoint + label + open + healthyTrue - 1);
  story.faults = { ...story.faults, switchover: 'working' };
  story.settle(2);
}

/** Replicas become ready in the order of the recording, those between two other lines at the same time. */
function catchUp(story: Story, lines: readonly string[]): void {
  let together: number[] = [];
  for (const line of [...lines, '']) {
    const ready = /^(\d) ready$/.exec(line);
    if (ready !== null) {
      together.push(Number(ready[1]));
      continue;
    }
    const lagSeconds = Object.fromEntries(
      Object.entries(story.faults.lagSeconds).filter(([ordinal]) => !together.includes(Number(ordinal))),
    );
    const before = Object.keys(story.faults.lagSeconds).length;
    story.faults = { ...story.faults, lagSeconds };
    if (Object.keys(lagSeconds).length < before) story.settle();
    together = [];
  }
}

/** What happened up to a status of the MySQLCluster. */
interface Part {
  /** In MOCO's order. */
  readonly moco: readonly string[];
  /** In the order of each member. Kubelets know nothing of each other, nor of what MOCO does meanwhile to other members. */
  readonly members: Readonly<Record<string, readonly string[]>>;
}

function partsOf({ act, lines }: Chapter): readonly Part[] {
  // How many replicas have caught up when MOCO looks is chance.
  const isChance = (line: string): boolean => act === creation && line.includes('(Degraded)');
  const parts: string[][] = [[]];
  for (const line of lines.filter((one) => !isChance(one))) {
    parts.at(-1)?.push(line);
    if (!isOfMember(line)) parts.push([]);
  }
  return parts.map((part) => ({
    moco: part.filter((line) => !line.endsWith(' ready')),
    members: Object.fromEntries(Map.groupBy(part.filter(isOfMember), (line) => line[0] ?? '')),
  }));
}

const isOfMember = (line: string): boolean => /^\d /.test(line);

/** What MySQL alone knows. */
const isHidden = (line: string): boolean => /(takes writes|is read-only|follows \d)$/.test(line);

describe('the stand-in for MOCO, compared with histories of real servers', () => {
  for (const name of readdirSync(folder)) {
    const { chapters } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Recorded;
    it(`behaves like the real one: ${name.replace('.json', '')}`, () => {
      const story = new Story(membersOf(chapters));
      const played = chapters.map((chapter) => ({
        act: chapter.act,
        parts: partsOf({ ...chapter, lines: perform(story, chapter) }),
      }));
      expect(played).to.deep.equal(chapters.map((chapter) => ({ act: chapter.act, parts: partsOf(chapter) })));
    });
  }
});

/** At the end of its creation each has a role. */
function membersOf([first]: readonly Chapter[]): number {
  return first?.lines.filter((line) => / role /.test(line)).length ?? 0;
}
