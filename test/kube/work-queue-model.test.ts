import { expect } from 'chai';
import * as fc from 'fast-check';
import { ApiError } from '../../src/kube/api-error.ts';
import { type RunResult, WorkQueue, type WorkQueueOptions } from '../../src/kube/work-queue.ts';
import { settle } from './fake-world.ts';
import { propertyParameters } from './property-parameters.ts';
import { ScheduledTime } from './scheduled-time.ts';
import { type Mistake, withMistake } from './with-mistake.ts';
import { type Outcome, WorkQueueModel } from './work-queue-model.ts';

/** For many more runs than usual. */
const patienceMilliseconds = 600_000;
const abortGraceMilliseconds = 1_000;

/** What is done to the queue; those of one burst without anything else in between. */
type Move =
  | { readonly what: 'add' | 'forget'; readonly key: string }
  | { readonly what: 'addAfter'; readonly key: string; readonly milliseconds: number }
  | { readonly what: 'end'; readonly which: number }
  | { readonly what: 'pass'; readonly milliseconds: number }
  | { readonly what: 'start' }
  | { readonly what: 'drain'; readonly graceMilliseconds: number };

interface Case {
  readonly concurrency: number;
  readonly bursts: readonly (readonly Move[])[];
  /** Of one run after the other; those after them are done. */
  readonly outcomes: readonly Outcome[];
}

const key = fc.constantFrom('a', 'b', 'c');
const milliseconds = fc.constantFrom(0, 1, 50, 75, 200, 2_000);
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ what: fc.constant('add' as const), key }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('addAfter' as const), key, milliseconds }) },
  { weight: 3, arbitrary: fc.record({ what: fc.constant('end' as const), which: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('forget' as const), key }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('pass' as const), milliseconds }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('start' as const) }) },
);
const drain: fc.Arbitrary<Move> = fc.record({ what: fc.constant('drain' as const), graceMilliseconds: milliseconds });
const outcome: fc.Arbitrary<Outcome> = fc.oneof(
  fc.record({ kind: fc.constant('done' as const) }),
  fc.record({ kind: fc.constant('again' as const), afterMilliseconds: milliseconds }),
  fc.record({ kind: fc.constant('failed' as const), retryAfterSeconds: fc.constantFrom(null, 1, 90) }),
);
const burst = fc.array(move, { minLength: 1, maxLength: 4 });
const cases: fc.Arbitrary<Case> = fc.record({
  concurrency: fc.integer({ min: 1, max: 3 }),
  // Most of them work from the beginning; a few are drained, and go on being used.
  bursts: fc
    .tuple(
      fc.constantFrom<readonly Move[][]>([[{ what: 'start' }]], [[{ what: 'start' }]], []),
      fc.array(burst, { maxLength: 12 }),
      fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.tuple(fc.tuple(drain), burst) }),
    )
    .map((parts) => parts.flat()),
  outcomes: fc.array(outcome, { maxLength: 8 }),
});

interface Run {
  readonly key: string;
  readonly signal: AbortSignal;
  readonly end: (outcome: Outcome) => void;
}

/** The queue and its model, told the same. */
class Pair {
  readonly #case: Case;
  readonly #scheduler: fc.Scheduler;
  readonly #time: ScheduledTime;
  readonly #model: WorkQueueModel;
  readonly #queue: WorkQueue;
  readonly #runs: string[] = [];
  readonly #errors: string[] = [];
  readonly #underWay: Run[] = [];
  /** The queue hears of an end once those who have brought it about have let go. */
  readonly #justEnded: (readonly [key: string, outcome: Outcome])[] = [];
  #outcomes = 0;
  #firing = false;
  #drainedAtMilliseconds = Infinity;
  #graceMilliseconds = 0;
  #drained = false;

  constructor(one: Case, scheduler: fc.Scheduler, Queue: typeof WorkQueue) {
    this.#case = one;
    this.#scheduler = scheduler;
    this.#time = new ScheduledTime(scheduler);
    this.#model = new WorkQueueModel(one.concurrency);
    const plansDue = (key: string): void => {
      if (this.#firing) this.#model.due(key);
    };
    // Which plan a timer was for is seen by what the queue then adds.
    const Heard = class extends Queue {
      override add(key: string): void {
        plansDue(key);
        super.add(key);
      }
    };
    this.#queue = new Heard({
      name: 'clusters',
      world: this.#world(),
      concurrency: one.concurrency,
      process: (key, signal) => this.#process(key, signal),
      onError: (key, _, retries) => this.#errors.push(`${key} ${retries}`),
    });
  }

  async play(): Promise<void> {
    this.#scheduler.scheduleSequence(
      this.#case.bursts.map((moves) => ({
        label: moves.map(({ what, ...more }) => `${what} ${Object.values(more).join(' ')}`.trim()).join(', '),
        builder: () => {
          for (const one of moves) this.#move(one);
          return Promise.resolve();
        },
      })),
    );
    while (this.#scheduler.count() > 0) {
      await this.#scheduler.waitNext(1);
      await this.#check();
    }
    // What was not started is still there; what was has come to its end.
    expect(this.#time.due, 'timers left over').to.deep.equal([]);
    expect(this.#underWay, 'runs left over').to.deep.equal([]);
  }

  async #check(): Promise<void> {
    await settle();
    const now = this.#time.nowMilliseconds;
    for (const [name, how] of this.#justEnded.splice(0)) this.#model.ended(name, how, now);
    this.#model.settle();
    const model = this.#model;
    expect({
      runs: this.#runs.join(''),
      underWay: this.#underWay.map(({ key }) => key).toSorted(),
      depth: this.#queue.depth,
      errors: this.#errors,
    }).to.deep.equal({
      runs: model.runs.join(''),
      underWay: [...model.underWay].toSorted(),
      depth: model.waiting.length,
      errors: model.errors,
    });
    if (!model.draining) expect(this.#time.due).to.deep.equal([...model.planned.values()].toSorted((a, b) => a - b));
    else this.#checkDrain(now - this.#drainedAtMilliseconds - this.#graceMilliseconds);
  }

  /** @param overdueMilliseconds since the grace has passed */
  #checkDrain(overdueMilliseconds: number): void {
    const [one] = this.#underWay;
    expect(this.#time.due.length, 'timers of a drained queue').to.be.at.most(one === undefined ? 0 : 1);
    if (one === undefined) {
      expect(this.#drained, 'drained once no run is under way').to.equal(true);
      return;
    }
    if (overdueMilliseconds < 0) expect(one.signal.aborted, 'aborted within the grace').to.equal(false);
    if (overdueMilliseconds < abortGraceMilliseconds) expect(this.#drained, 'drained with a run').to.equal(false);
  }

  #world(): WorkQueueOptions['world'] {
    return {
      monotonic: () => this.#time.nowMilliseconds,
      wall: () => 0,
      random: () => 0.5,
      exchange: () => Promise.reject(new Error('expected no request')),
      timer: (delayMilliseconds, callback) =>
        this.#time.timer(delayMilliseconds, () => {
          this.#firing = true;
          callback();
          this.#firing = false;
        }),
    };
  }

  #process(key: string, signal: AbortSignal): Promise<RunResult | void> {
    this.#runs.push(key);
    const { promise, resolve, reject } = Promise.withResolvers<RunResult | void>();
    const run: Run = {
      key,
      signal,
      end: (how) => {
        const index = this.#underWay.indexOf(run);
        if (index === -1) return;
        this.#underWay.splice(index, 1);
        this.#justEnded.push([key, how]);
        if (how.kind === 'failed') reject(failure(how.retryAfterSeconds));
        else resolve(how.kind === 'again' ? { requeueAfterMilliseconds: how.afterMilliseconds } : undefined);
      },
    };
    this.#underWay.push(run);
    void this.#scheduler.schedule(Promise.resolve(), `the end of a run of ${key}`).then(() => run.end(this.#outcome()));
    return promise;
  }

  #outcome(): Outcome {
    return this.#case.outcomes[this.#outcomes++] ?? { kind: 'done' };
  }

  #move(one: Move): void {
    const now = this.#time.nowMilliseconds;
    switch (one.what) {
      case 'add':
        this.#model.add(one.key);
        this.#queue.add(one.key);
        break;
      case 'addAfter':
        this.#model.addAfter(one.key, one.milliseconds, now);
        this.#queue.addAfter(one.key, one.milliseconds);
        break;
      case 'forget':
        this.#model.forget(one.key);
        this.#queue.forget(one.key);
        break;
      case 'end':
        this.#underWay[one.which]?.end(this.#outcome());
        break;
      case 'pass':
        this.#time.nowMilliseconds += one.milliseconds;
        break;
      case 'start':
        this.#model.start();
        this.#queue.start();
        break;
      case 'drain':
        this.#model.drain();
        this.#drainedAtMilliseconds = now;
        this.#graceMilliseconds = one.graceMilliseconds;
        void this.#queue.drain(one.graceMilliseconds).then(() => (this.#drained = true));
        break;
    }
  }
}

function failure(retryAfterSeconds: number | null): Error {
  return retryAfterSeconds === null
    ? new Error('no')
    : new ApiError({ status: 429, reason: 'TooManyRequests', message: 'not now', retryAfterSeconds });
}

const property = (Queue: typeof WorkQueue) =>
  fc.asyncProperty(fc.scheduler(), cases, (scheduler, one) => new Pair(one, scheduler, Queue).play());

const source = new URL('../../src/kube/work-queue.ts', import.meta.url);
const mistakes: Readonly<Record<string, Mistake>> = {
  'runs a key twice at once': { of: '= !this.#processing.has(key)', instead: '= true' },
  'runs a key as often as it was added': { of: ' || this.#dirty.has(key)', instead: '' },
  'loses what is added while it runs': { of: 'if (this.#dirty.has(key)) this.#enqueue(key);', instead: '' },
  'keeps the first plan of a key': { of: 'planned && planned.dueMilliseconds <= dueMilliseconds', instead: 'planned' },
  'keeps the last plan of a key': { of: 'planned && planned.dueMilliseconds <= dueMilliseconds', instead: 'false' },
  'leaves a plan that it has replaced': { of: 'planned?.cancel();', instead: '' },
  'waits ever longer, whatever went well': {
    of: 'this.#failures.delete(key);\n      if',
    instead: 'if',
  },
  'does not forget': { of: 'this.#failures.delete(key);\n  }', instead: '}' },
  'does not wait as long as it was asked to': { of: 'Math.max(askedMilliseconds, ', instead: 'Math.max(0, ' },
  'asks too much of its workers': {
    of: '{ concurrency, autoStart',
    instead: '{ concurrency: concurrency + 1, autoStart',
  },
  'keeps what waits when drained': { of: 'this.#pool.clear();', instead: '' },
  'keeps what is planned when drained': {
    of: 'for (const { cancel } of this.#planned.values()) cancel();',
    instead: '',
  },
  'takes more when drained': { of: 'this.#draining = true;', instead: '' },
  'drains without waiting': { of: 'await this.#ended(graceMilliseconds);\n', instead: '' },
};

describe('a work queue beside its model', function suite() {
  this.timeout(patienceMilliseconds);

  it('behaves like the model for any sequence of operations', async () => {
    await fc.assert(property(WorkQueue), propertyParameters(300));
  });

  for (const [what, mistake] of Object.entries(mistakes)) {
    it(`detects a queue that ${what}`, async () => {
      const { WorkQueue: Mistaken } = await withMistake<{ WorkQueue: typeof WorkQueue }>(source, mistake);
      const { failed } = await fc.check(property(Mistaken), { numRuns: 2_000, seed: 1, endOnFailure: true });
      expect(failed).to.equal(true);
    });
  }
});
