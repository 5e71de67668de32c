import { expect } from 'chai';
import type { ExchangeRequest, ExchangeResponse } from '../../src/base/world.ts';
import { pods, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind, demoteAnnotation, strategyLabel } from '../../src/moco/names.ts';
import { reset } from '../kube/fake-world.ts';
import { Bench, member, type Process } from './bench.ts';
import { revisionAfter } from './moco-objects.ts';
import type { Raw } from './object-server.ts';
import { completion, switchOver } from './whole-rollout.ts';

const wholeRollout = ['setStrategy', 'evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];
const mostRounds = 30;

/** What becomes of the write at which a process dies. */
type Fate =
  /** It was not sent any more. */
  | 'never'
  /** It was carried out, and its answer never came. */
  | 'done'
  /** It is on its way, and is carried out once the successor has done what it could do. */
  | 'late';

class Death extends Error {}

const badRequest = 400;
/** Of a write that was accepted, and has changed nothing. */
const notModified = 304;

/** A cluster with everything still to be done to it, and processes that die at a write. */
class Mortal {
  readonly bench = new Bench();
  /** Answers to writes that came late. */
  readonly lateAnswers: number[] = [];
  /** Whether it was a pod that the last write was about at which a process has died. */
  isToPod = false;
  /** How many writes have been sent. */
  sent = 0;
  #late: (() => number) | null = null;
  #dies: { readonly at: number; readonly fate: Fate } | null = null;
  #isDead = false;

  constructor() {
    this.bench.changeStatefulSet({
      metadata: { labels: { [strategyLabel]: null } },
      spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 3 } } },
    });
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) this.#listen(method);
  }

  /** A process that lives until the rollout is over, or dies at a write, counted from 0, of its own. */
  async live(dies: { readonly at: number; readonly fate: Fate } | null): Promise<void> {
    this.sent = 0;
    this.#dies = dies;
    this.#isDead = false;
    const program = this.bench.start();
    try {
      for (let round = 0; ; round += 1) {
        if (round === mostRounds) throw new Error(`expected the rollout to end within ${mostRounds} rounds`);
        await this.#work(program);
        const arrived = this.#arrive();
        if (!this.#natureMoves() && !arrived) return;
      }
    } catch (error) {
      if (!(error instanceof Death)) throw error;
    }
  }

  /** A process that finds the rollout paused, and comes to rest before what is on its way arrives. */
  async livePaused(): Promise<void> {
    this.#dies = null;
    this.#isDead = false;
    this.bench.setting({ paused: true });
    await this.bench.start().work();
    this.#arrive();
    this.bench.setting({ paused: false });
  }

  /** As `Process.work`, but a process that is dead does nothing more, whatever it makes of its last error. */
  async #work(program: Process): Promise<void> {
    try {
      await program.work();
    } catch (error) {
      if (!this.#isDead) throw error;
    }
    if (this.#isDead) throw new Death();
  }

  #listen(method: string): void {
    this.bench.server.script(method, /./, (request, carryOut) => {
      this.#listen(method);
      if (this.#isDead) return reset();
      const index = this.sent;
      this.sent += 1;
      if (index !== this.#dies?.at) return carryOut();
      this.#isDead = true;
      const unanswered = (): number => this.#noted(request, carryOut());
      if (this.#dies.fate === 'done') unanswered();
      if (this.#dies.fate === 'late') this.#late = unanswered;
      this.isToPod = request.path.includes('/pods/');
      return reset();
    });
  }

  /** What its author has left behind reaches the server. */
  #arrive(): boolean {
    const late = this.#late;
    this.#late = null;
    if (late === null) return false;
    const versions = (): string => JSON.stringify(this.bench.server.all(statefulSets));
    const before = versions();
    const status = late();
    // An adoption has its uid as the only precondition. The successor has adopted the StatefulSet.
    const isRepeated =
      before === versions() && status < badRequest && this.bench.server.writes.at(-1)?.path.includes('/statefulsets/');
    if (isRepeated) this.bench.server.writes.pop();
    this.lateAnswers.push(isRepeated ? notModified : status);
    return true;
  }

  /** The server itself notes only what it could answer. */
  #noted({ method, path, body }: ExchangeRequest, { status }: ExchangeResponse): number {
    this.bench.server.writes.push({ method, path, body: JSON.parse(body ?? '{}') as Raw, status });
    return status;
  }

  /** What MOCO and Kubernetes do of what they have been asked for, one thing at a time. */
  #natureMoves(): boolean {
    const { bench } = this;
    const terminating = bench.server.all(pods).find(({ metadata }) => metadata['deletionTimestamp'] !== undefined);
    if (terminating) {
      const ordinal = Number(terminating.metadata.name.at(-1));
      const isPrimary = ordinal === this.#primary;
      bench.replace(ordinal, { role: isPrimary ? 'primary' : 'replica' });
      return true;
    }
    const annotations = bench.server.get(pods, member(this.#primary)).metadata.annotations ?? {};
    if (!(demoteAnnotation in annotations)) return false;
    switchOver(bench, this.#primary, 1);
    return true;
  }

  get #primary(): number {
    const { currentPrimaryIndex } = this.bench.server.get(clusterKind, 'test')['status'] as {
      currentPrimaryIndex: number;
    };
    return currentPrimaryIndex;
  }

  /**
   * Everything that was asked for is done, once, and everybody is told so.
   *
   * @param pausedBetween then the mark of a demotion does not wait for its pod to go
   */
  expectDone(pausedBetween = false): void {
    const { bench } = this;
    const unremarkable = pausedBetween ? /^void|^undemote/ : /^void/;
    const steps = bench.steps.filter((step) => !unremarkable.test(step));
    expect(steps).to.deep.equal(wholeRollout);
    expect(bench.status.intent).to.equal(undefined);
    expect(bench.status.phase).to.equal('UpToDate');
    expect(completion(bench)).to.include({ status: 'True' });
    expect(bench.server.get(statefulSets, 'moco-test')['status']).to.have.property('currentRevision', revisionAfter);
    const annotations = bench.server.all(pods).map(({ metadata }) => Object.keys(metadata.annotations ?? {}));
    expect(annotations.flat().filter((name) => name !== 'moco-rollout.io/invalidated-intent')).to.deep.equal([]);
  }
}

describe('a crash of the controller', () => {
  let writes: number;

  before(async () => {
    const whole = new Mortal();
    await whole.live(null);
    whole.expectDone();
    writes = whole.sent;
    expect(writes, 'an intent, its step and its result for each of four').to.be.greaterThan(12);
  });

  const fates: Readonly<Record<Fate, string>> = {
    never: 'before any write of a rollout',
    done: 'after any write of a rollout, before its answer',
    late: 'while any write of a rollout is on its way',
  };
  for (const [fate, when] of Object.entries(fates) as readonly [Fate, string][]) {
    it(`${when} makes its successor repeat nothing`, async () => {
      for (let at = 0; at < writes; at += 1) {
        const mortal = new Mortal();
        await mortal.live({ at, fate });
        await mortal.live(null);
        try {
          mortal.expectDone();
          const answers = mortal.lateAnswers;
          expect(
            answers.filter((status) => status < 300),
            'late writes that came through',
          ).to.deep.equal([]);
          expect(answers).to.have.length(fate === 'late' ? 1 : 0);
        } catch (error) {
          throw new Error(`with a crash at write ${at} of ${writes}: ${String(error)}`, { cause: error });
        }
      }
    });
  }

  it('disrupts no member by a late write once the user has paused the rollout', async () => {
    let taken = 0;
    for (let at = 0; at < writes; at += 1) {
      const mortal = new Mortal();
      await mortal.live({ at, fate: 'late' });
      if (!mortal.isToPod) continue;
      taken += 1;
      const { steps } = mortal.bench;
      await mortal.livePaused();
      expect(mortal.lateAnswers, `after a crash at write ${at}`).to.deep.equal([409]);
      expect(mortal.bench.steps.slice(steps.length).filter((step) => /evict|delete|^demote/.test(step))).to.deep.equal(
        [],
      );
      await mortal.live(null);
      mortal.expectDone(true);
    }
    expect(taken, 'three evictions and a demotion').to.equal(4);
  });

  it('does no harm if the successor crashes at one of its first writes, too', async () => {
    for (let first = 0; first < writes; first += 1) {
      for (let second = 0; second < 2; second += 1) {
        const mortal = new Mortal();
        await mortal.live({ at: first, fate: 'never' });
        await mortal.live({ at: second, fate: 'done' });
        await mortal.live(null);
        try {
          mortal.expectDone();
        } catch (error) {
          throw new Error(`with crashes at writes ${first} and then ${second}: ${String(error)}`, { cause: error });
        }
      }
    }
  });
});
