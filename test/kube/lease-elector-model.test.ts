import { expect } from 'chai';
import * as fc from 'fast-check';
import { ApiClient } from '../../src/kube/api-client.ts';
import { LeaseElector } from '../../src/kube/lease-elector.ts';
import type { ExchangeRequest, ExchangeResponse } from '../../src/kube/world.ts';
import { FakeLeaseServer } from './fake-lease-server.ts';
import { FakeLog } from './fake-log.ts';
import { answer, refused, settle, silence, status } from './fake-world.ts';
import { type Drift, LeaseModel } from './lease-model.ts';
import { propertyParameters } from './property-parameters.ts';
import { ScheduledTime } from './scheduled-time.ts';
import { type Mistake, withMistake } from './with-mistake.ts';

/** For many more runs than usual. */
const patienceMilliseconds = 600_000;
const leaseDurationMilliseconds = 15_000;
const renewDeadlineMilliseconds = 10_000;
/** Time and again for the slowest clock to see a lease run out, and for its candidate to take it. */
const calmMilliseconds = 45_000;
/** The longest wait of a candidate, by the slowest clock. */
const nextTryMilliseconds = 3_000;

/** What becomes of a request that is sent now. */
type Network = 'fine' | 'refuses' | 'loses requests' | 'loses answers' | 'fails';

interface Clock extends Drift {
  /** Wall minus true time, at the start. */
  readonly wallOffsetMilliseconds: number;
}

type Move =
  | { readonly what: 'network'; readonly who: number; readonly network: Network }
  | { readonly what: 'release' | 'abort'; readonly who: number }
  /** Nobody runs: neither timers nor answers get through. */
  | { readonly what: 'pass'; readonly milliseconds: number };

interface Case {
  readonly clocks: readonly Clock[];
  readonly moves: readonly Move[];
  /** Before the network heals and timers fire in time. */
  readonly steps: number;
}

const who = fc.nat({ max: 2 });
const network = fc.constantFrom<Network>('fine', 'fine', 'refuses', 'loses requests', 'loses answers', 'fails');
const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ what: fc.constant('network' as const), who, network }) },
  { weight: 4, arbitrary: fc.record({ what: fc.constant('pass' as const), milliseconds: fc.nat({ max: 20_000 }) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('release' as const, 'abort' as const), who }) },
);
const clock: fc.Arbitrary<Clock> = fc.record({
  // Two of them may differ by less than what lies between the renew deadline and the duration of the lease.
  rate: fc.constantFrom(1, 0.85, 1.2),
  wallOffsetMilliseconds: fc.constantFrom(0, 3_600_000, -3_600_000, 4_321),
});
const cases: fc.Arbitrary<Case> = fc.record({
  clocks: fc.tuple(clock, clock, clock),
  moves: fc.array(move, { maxLength: 16 }),
  steps: fc.integer({ min: 20, max: 150 }),
});

/** A candidate, with a clock and a network of its own. */
class Candidate {
  readonly elector: LeaseElector;
  readonly reported: string[] = [];
  readonly stop = new AbortController();
  readonly running: Promise<void>;
  network: Network = 'fine';
  ended = false;
  releasing: Promise<void> | null = null;

  constructor(
    identity: string,
    { rate, wallOffsetMilliseconds }: Clock,
    contest: Contest,
    Elector: typeof LeaseElector,
  ) {
    const { time } = contest;
    const world = {
      monotonic: () => time.nowMilliseconds * rate,
      wall: () => 1_782_907_200_000 + time.nowMilliseconds + wallOffsetMilliseconds,
      timer: (delayMilliseconds: number, callback: () => void) => time.timer(delayMilliseconds / rate, callback),
      random: () => 0.5,
      exchange: (request: ExchangeRequest) => contest.exchange(this, request),
    };
    this.elector = new Elector({
      client: new ApiClient({ world, qps: 100, burst: 100 }),
      world,
      namespace: 'ns',
      name: 'moco-rollout',
      identity,
      leaseDurationMilliseconds,
      renewDeadlineMilliseconds,
      log: new FakeLog(),
      onStartedLeading: () => this.reported.push('started'),
      onStoppedLeading: () => this.reported.push('stopped'),
    });
    this.running = this.elector.run(this.stop.signal).finally(() => {
      this.ended = true;
    });
  }

  get leads(): boolean {
    return this.elector.isLeader();
  }
}

/** Three candidates, one server, and a scheduler that decides whose timer, request or answer is next. */
class Contest {
  readonly time: ScheduledTime;
  readonly #case: Case;
  readonly #scheduler: fc.Scheduler;
  readonly #server = new FakeLeaseServer();
  readonly #model: LeaseModel;
  readonly #candidates: readonly Candidate[];
  /** On their way; what is taken out has arrived. */
  readonly #onTheWay = new Set<() => void>();
  #calm = false;
  /** Nothing may throw where it would be taken for an answer of the network. */
  readonly #wrong: string[] = [];

  constructor(one: Case, scheduler: fc.Scheduler, Elector: typeof LeaseElector) {
    this.#case = one;
    this.#scheduler = scheduler;
    this.time = new ScheduledTime(scheduler);
    this.#model = new LeaseModel(one.clocks, renewDeadlineMilliseconds);
    this.#candidates = one.clocks.map((clock, index) => new Candidate('abc'[index] ?? '', clock, this, Elector));
  }

  async play(): Promise<void> {
    this.#scheduler.scheduleSequence(
      this.#case.moves.map((one) => ({
        label: Object.values(one).join(' '),
        builder: () => Promise.resolve(this.#move(one)),
      })),
    );
    for (let step = 0; step < this.#case.steps && this.#scheduler.count() > 0; step += 1) {
      await this.#scheduler.waitNext(1);
      await this.#check();
    }
    await this.#healed();
    await this.#givenBack();
    for (const { stop } of this.#candidates) stop.abort();
    await this.#pass(renewDeadlineMilliseconds);
    await Promise.all(this.#candidates.map(({ running }) => running));
    expect(this.time.due, 'timers left over').to.deep.equal([]);
  }

  /** Once everything works again, one of those that are left has it. */
  async #healed(): Promise<void> {
    this.#calm = true;
    for (const each of this.#candidates) each.network = 'fine';
    for (const arrive of this.#onTheWay) arrive();
    await this.#pass(calmMilliseconds);
    const left = this.#candidates.filter(({ ended }) => !ended).length;
    expect(this.#leaders().length, 'leaders once everything works').to.equal(Math.min(1, left));
  }

  /** Whoever ends gives it back, and the next one has it at once. */
  async #givenBack(): Promise<void> {
    const [last] = this.#leaders();
    if (last === undefined) return;
    this.#end(this.#candidates.indexOf(last), 'release');
    await this.#pass(0);
    await last.releasing;
    expect(this.#server.holder, 'the holder of a lease released').not.to.equal(this.#name(last));
    await this.#pass(nextTryMilliseconds);
    const left = this.#candidates.filter(({ ended }) => !ended).length;
    expect(this.#leaders().length, 'leaders soon after the last one').to.equal(Math.min(1, left));
  }

  exchange(from: Candidate, request: ExchangeRequest): Promise<ExchangeResponse> {
    const sentAtMilliseconds = this.time.nowMilliseconds;
    const isWrite = request.method !== 'GET';
    if (isWrite && from.reported.length === 1 && !request.signal.aborted) this.#mayWrite(from, request);
    const { network } = from;
    switch (network) {
      case 'refuses':
        return refused();
      case 'fails':
        return this.#arriving(request, 'an error', () => answer(500, status(500, 'InternalError')));
      case 'loses requests':
        return silence(request);
      case 'loses answers':
        void this.#arriving(request, 'a request', () => this.#server.answer(request)).catch(() => {});
        return silence(request);
      case 'fine':
        return this.#answered(from, request, isWrite, sentAtMilliseconds);
    }
  }

  async #answered(from: Candidate, request: ExchangeRequest, isWrite: boolean, sentAtMilliseconds: number) {
    const response = await this.#arriving(request, `a ${request.method} of ${this.#name(from)}`, () =>
      this.#server.answer(request),
    );
    await this.#arriving(request, `the answer to ${this.#name(from)}`, () => response);
    if (isWrite && response.status < 300) this.#model.answered(this.#candidates.indexOf(from), sentAtMilliseconds);
    return response;
  }

  /** What was sent arrives, even if its sender has given up waiting for it. */
  #arriving(request: ExchangeRequest, what: string, take: () => ExchangeResponse): Promise<ExchangeResponse> {
    const arrived = new Promise<ExchangeResponse>((resolve) => {
      const arrive = (): void => {
        if (this.#onTheWay.delete(arrive)) resolve(take());
      };
      this.#onTheWay.add(arrive);
      if (this.#calm) arrive();
      else void this.#scheduler.schedule(Promise.resolve(), what).then(arrive);
    });
    return Promise.race([arrived, silence(request)]);
  }

  #mayWrite(from: Candidate, { body = '' }: ExchangeRequest): void {
    const givesBack = body.includes('"holderIdentity":""');
    if (givesBack || this.#model.mayLead(this.#candidates.indexOf(from), this.time.nowMilliseconds)) return;
    this.#wrong.push(`${this.#name(from)} renewed after its deadline, at ${this.time.nowMilliseconds} ms`);
  }

  #move(one: Move): void {
    switch (one.what) {
      case 'network':
        (this.#candidates[one.who] as Candidate).network = one.network;
        break;
      case 'pass':
        this.time.nowMilliseconds += one.milliseconds;
        this.#judge();
        break;
      case 'release':
      case 'abort':
        this.#end(one.who, one.what);
        break;
    }
  }

  #end(who: number, how: 'release' | 'abort'): void {
    const candidate = this.#candidates[who] as Candidate;
    this.#model.toldToEnd(who);
    if (how === 'release') candidate.releasing ??= candidate.elector.release();
    else candidate.stop.abort();
    this.#judge();
  }

  async #pass(milliseconds: number): Promise<void> {
    await this.time.inOrder(milliseconds, () => this.#check());
  }

  async #check(): Promise<void> {
    await settle();
    this.#judge();
    expect(this.#wrong).to.deep.equal([]);
    for (const { reported } of this.#candidates)
      expect(['', 'started', 'started stopped']).to.include(reported.join(' '));
  }

  /** Whoever may start a write now has the lease, is alone with it, and may by the model. */
  #judge(): void {
    const now = this.time.nowMilliseconds;
    for (const leader of this.#leaders()) {
      const name = this.#name(leader);
      if (this.#server.holder !== name) this.#wrong.push(`${name} leads, ${this.#server.holder} holds the lease`);
      if (!this.#model.mayLead(this.#candidates.indexOf(leader), now)) this.#wrong.push(`${name} leads at ${now} ms`);
    }
  }

  #leaders(): readonly Candidate[] {
    return this.#candidates.filter(({ leads }) => leads);
  }

  #name(candidate: Candidate): string {
    return 'abc'[this.#candidates.indexOf(candidate)] ?? '';
  }
}

const property = (Elector: typeof LeaseElector) =>
  fc.asyncProperty(fc.scheduler(), cases, (scheduler, one) => new Contest(one, scheduler, Elector).play());

const source = new URL('../../src/kube/lease-elector.ts', import.meta.url);
const runsOut = 'world.monotonic() >= this.#observed.atMilliseconds + validMilliseconds';
const mistakes: Readonly<Record<string, Mistake>> = {
  'leads past its deadline': { of: ' && this.#leftMilliseconds() > 0', instead: '' },
  'leads on while it ends': { of: ' && !this.#ending', instead: '' },
  'counts its deadline from the answer': {
    of: 'this.#renewedAtMilliseconds = startMilliseconds',
    instead: 'this.#renewedAtMilliseconds = world.monotonic()',
  },
  'renews past its deadline': { of: ' || this.#leftMilliseconds() <= 0', instead: '' },
  'believes the clocks of others': {
    of: runsOut,
    instead: "world.wall() >= Date.parse(lease.spec?.renewTime ?? '') + validMilliseconds",
  },
  'takes any lease': { of: runsOut, instead: 'true' },
  'takes no lease that has run out': { of: runsOut, instead: 'false' },
  'counts the age of a lease from its last look': {
    of: 'if (this.#observed?.lease.metadata.resourceVersion === lease.metadata.resourceVersion) return;',
    instead: '',
  },
  'keeps the lease when it ends': { of: 'if (await this.#release())', instead: 'if (false)' },
};

describe('lease electors beside their model', function suite() {
  this.timeout(patienceMilliseconds);

  it('let only one candidate write at a time, before its deadline, for any lost or late messages', async () => {
    await fc.assert(property(LeaseElector), propertyParameters(100));
  });

  for (const [what, mistake] of Object.entries(mistakes)) {
    it(`detect candidates of which each ${what}`, async () => {
      const { LeaseElector: Mistaken } = await withMistake<{ LeaseElector: typeof LeaseElector }>(source, mistake);
      const { failed } = await fc.check(property(Mistaken), { numRuns: 1_000, seed: 1, endOnFailure: true });
      expect(failed).to.equal(true);
    });
  }
});
