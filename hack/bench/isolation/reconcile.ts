import type { ExchangeRequest } from '../../../src/base/world.ts';
import { podDisruptionBudgets } from '../../../src/kube/resource.ts';
import { Bench, type Process } from '../../../test/controller/bench.ts';
import type { Operation } from './operation.ts';

// The passes whose cost is measured.

/** A whole pass of the reconciler, compared with the same calls to the stand-in of the API server alone. */
export interface ReconcileCase {
  readonly operation: Operation;
  readonly beside: Operation;
  /** Calls to the API server in one pass. */
  readonly calls: number;
}

const restingTimes = 4_000;
/** Long enough for every hold to be reported in the status. */
const holdMilliseconds = 120_000;
/** Each run has its own API server, because a step can be performed only once. */
const stepTimes = 200;

/** A cluster with nothing to do and a current status; `hold` is its hold, if any. */
async function resting(what: string, bench: Bench, hold?: string): Promise<ReconcileCase> {
  const program = bench.start();
  await program.work();
  bench.world.freeze(holdMilliseconds);
  await program.work();
  const held = bench.status.hold?.rule;
  if (held !== hold) throw new Error(`Expected ${hold ?? 'nothing'} to hold ${what}, it is ${held ?? 'nothing'}`);
  const before = bench.world.requests.length;
  await program.pass();
  const repeated = (once: () => Promise<unknown>): Operation => {
    const run = async (): Promise<void> => {
      for (let time = 0; time < restingTimes; time += 1) await once();
    };
    return { name: what, times: restingTimes, prepare: () => run };
  };
  return {
    operation: repeated(() => program.pass()),
    beside: repeated(() => Promise.resolve()),
    calls: bench.world.requests.length - before,
  };
}

/** A reconciliation that performs one or more steps. The program confirms, records and performs each step. */
async function stepping(what: string, steps: readonly string[], arranged: () => Bench): Promise<ReconcileCase> {
  const ready = (): Ready => {
    const bench = arranged();
    const program = bench.start();
    program.sync();
    return { bench, program };
  };
  const sample = ready();
  await sample.program.pass();
  const taken = sample.bench.steps.join(', ');
  if (taken !== steps.join(', '))
    throw new Error(`Expected a pass to ${steps.join(', ')}, it did: ${taken || 'nothing'}`);
  const requests = [...sample.bench.world.requests];
  const onFreshOnes = (once: (one: Ready) => Promise<unknown>): Operation => ({
    name: what,
    times: stepTimes,
    prepare: () => {
      const all = Array.from({ length: stepTimes }, ready);
      return async () => {
        for (const one of all) await once(one);
      };
    },
  });
  return {
    operation: onFreshOnes(({ program }) => program.pass()),
    beside: onFreshOnes(({ bench }) => replay(bench, requests)),
    calls: requests.length,
  };
}

interface Ready {
  readonly bench: Bench;
  readonly program: Process;
}

function withBudgetClosed(): Bench {
  const bench = new Bench();
  bench.server.change(podDisruptionBudgets, 'moco-test', { status: { disruptionsAllowed: 0 } });
  return bench;
}

function withTwoDown(): Bench {
  const bench = new Bench();
  for (const ordinal of [1, 2]) bench.mysqld(ordinal, 'CrashLoopBackOff');
  return bench;
}

function withReplicasUpdated(): Bench {
  const bench = new Bench();
  for (const ordinal of [1, 2]) bench.replace(ordinal, { role: 'replica' });
  return bench;
}

/** Sends the requests as the client does: reads each answer as text and parses it. */
async function replay({ server }: Bench, requests: readonly ExchangeRequest[]): Promise<void> {
  for (const request of requests) {
    const { body } = await server.exchange(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    JSON.parse(Buffer.concat(chunks).toString('utf8'));
  }
}

export const reconcileCases = async (): Promise<readonly ReconcileCase[]> => [
  await resting('3 members, nothing to do', new Bench({ stale: false })),
  await resting('9 members, nothing to do', new Bench({ stale: false, replicas: 9 })),
  await resting('3 members, held by a budget', withBudgetClosed(), 'BlockedByPDB'),
  await stepping('3 members, one evicted', ['evict 2'], () => new Bench()),
  await stepping('9 members, one evicted', ['evict 8'], () => new Bench({ replicas: 9 })),
  await stepping('3 members, two that are down deleted', ['delete 2', 'delete 1'], withTwoDown),
  await stepping('3 members, the primary demoted', ['demote 0'], withReplicasUpdated),
];
