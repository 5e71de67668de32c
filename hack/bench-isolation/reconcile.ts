import type { ExchangeRequest } from '../../src/kube/world.ts';
import { Bench, type Process } from '../../test/controller/bench.ts';
import type { Operation } from './operation.ts';

/** A whole pass of the reconciler beside the same calls to the API server's stand-in without it. */
export interface ReconcileCase {
  readonly operation: Operation;
  readonly beside: Operation;
  /** Calls to the API server in one pass. */
  readonly calls: number;
}

const idleTimes = 1_000;
/** Each is on an API server of its own, as what it does can be done once. */
const stepTimes = 50;

/** A cluster in which there is nothing to do, all of which is told already. */
async function idle(replicas: number): Promise<ReconcileCase> {
  const bench = new Bench({ stale: false, replicas });
  const program = bench.start();
  await program.work();
  const before = bench.world.requests.length;
  await program.pass();
  const name = `${replicas} members, nothing to do`;
  const run = async (): Promise<void> => {
    for (let time = 0; time < idleTimes; time += 1) await program.pass();
  };
  const runNothing = async (): Promise<void> => {
    for (let time = 0; time < idleTimes; time += 1) await Promise.resolve();
  };
  return {
    operation: { name, times: idleTimes, prepare: () => run },
    beside: { name, times: idleTimes, prepare: () => runNothing },
    calls: bench.world.requests.length - before,
  };
}

/** The first healthy replica goes: confirmed by reads, written down, evicted. */
async function evicting(replicas: number): Promise<ReconcileCase> {
  const sample = readyToEvict(replicas);
  await sample.program.pass();
  if (!sample.bench.steps.some((step) => step.startsWith('evict'))) {
    throw new Error(`Expected the first pass to evict a member, it did: ${sample.bench.steps.join() || 'nothing'}.`);
  }
  const requests = [...sample.bench.world.requests];
  const name = `${replicas} members, one evicted`;
  const fresh = (): readonly Ready[] => Array.from({ length: stepTimes }, () => readyToEvict(replicas));
  return {
    operation: {
      name,
      times: stepTimes,
      prepare: () => {
        const all = fresh();
        return async () => {
          for (const { program } of all) await program.pass();
        };
      },
    },
    beside: {
      name,
      times: stepTimes,
      prepare: () => {
        const all = fresh();
        return async () => {
          for (const { bench } of all) await replay(bench, requests);
        };
      },
    },
    calls: requests.length,
  };
}

interface Ready {
  readonly bench: Bench;
  readonly program: Process;
}

function readyToEvict(replicas: number): Ready {
  const bench = new Bench({ replicas });
  const program = bench.start();
  program.sync();
  return { bench, program };
}

/** As the client does it: an answer is read as text and parsed. */
async function replay({ server }: Bench, requests: readonly ExchangeRequest[]): Promise<void> {
  for (const request of requests) {
    const { body } = await server.exchange(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    JSON.parse(Buffer.concat(chunks).toString('utf8'));
  }
}

export const reconcileCases = async (): Promise<readonly ReconcileCase[]> => [
  await idle(3),
  await idle(9),
  await evicting(3),
  await evicting(9),
];
