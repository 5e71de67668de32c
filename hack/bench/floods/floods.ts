import { setImmediate as turn } from 'node:timers/promises';
import { bodyLimitBytes, mostValues } from '../../../src/admission/answer.ts';
import type { Json } from '../../../src/base/json.ts';
import { PodHttp } from '../../../src/kube/plain-http.ts';
import { AgentDelayReader, agentTimeoutMilliseconds } from '../../../src/moco/agent.ts';
import { projectPod } from '../../../src/moco/pod-projection.ts';
import type { PodRecord } from '../../../src/moco/records.ts';
import { reviewOf } from '../../../test/admission/review.ts';
import { Bench } from '../../../test/controller/bench.ts';
import { pod } from '../../../test/controller/moco-objects.ts';
import { FakeWorld } from '../../../test/kube/fake-world.ts';
import { Client, type Task } from './client.ts';
import type { Victims } from './victims.ts';

// Floods of requests with which hostile clients may try to block the program: one for each port or peer.

export interface Flood {
  readonly name: string;
  readonly start: (victims: Victims) => Promise<Running>;
}

interface Running {
  /** Resolves to the number of requests that the program received. */
  stop(): Promise<number>;
}

const largestAnswerBytes = 512 * 1024;
const agentsAtOnce = 4;

/** Runs a task that sends requests from a separate thread. */
function sending(task: Task): Running {
  const client = new Client(task);
  return {
    stop: async () => {
      const numbers = await client.taken();
      await client.end();
      return numbers.reduce((sum, one) => sum + one, 0);
    },
  };
}

/** Runs something in this thread repeatedly, once in each turn of the event loop. */
function repeating(act: () => Promise<unknown>, atOnce = 1, end: () => Promise<unknown> = async () => {}): Running {
  const stopping = new AbortController();
  let times = 0;
  const all = Array.from({ length: atOnce }, async () => {
    while (!stopping.signal.aborted) {
      await act();
      times += 1;
      await turn();
    }
  });
  return {
    stop: async () => {
      stopping.abort();
      await Promise.all(all);
      await end();
      return times;
    },
  };
}

/** An admission review with the maximum number of bytes and values. */
function largestReview(): string {
  const values = Array.from({ length: mostValues / 2 }, () => 0);
  const small = JSON.stringify(reviewOf({ options: { values } }));
  return JSON.stringify(reviewOf({ options: { values, text: 'x'.repeat(bodyLimitBytes - small.length - 100) } }));
}

/** Metrics that once took quadratic time to parse: label names that never end. */
const hostileMetrics = (): string => `moco_instance_clone_count{${'a'.repeat(largestAnswerBytes - 100)}`;

/** Maintenance windows that open as often as the limits permit. Each edit changes the times at which they open. */
const heavyWindows = (edit: number) =>
  Array.from({ length: 8 }, (_, index) => ({
    schedule: `${(edit + 7 * index) % 60} 0,4,8,12,16,20 * * *`,
    duration: '5m',
    timeZone: 'America/St_Johns',
  }));

export const floods: readonly Flood[] = [
  {
    name: 'pipelined GETs of /metrics, 8,000 at once',
    start: async ({ metricsPort: port }) => sending({ kind: 'pipeline', port, secure: false }),
  },
  {
    name: 'pipelined GETs to the webhook over TLS, 8,000 at once',
    start: async ({ webhook }) => sending({ kind: 'pipeline', port: webhook.running.address.port, secure: true }),
  },
  {
    name: 'an agent that answers 512 KiB of hostile metrics',
    start: async () => {
      const agent = new Client({ kind: 'agent', body: hostileMetrics() });
      const [port = 0] = await agent.taken();
      const http = new PodHttp(new FakeWorld(), agentTimeoutMilliseconds);
      const reader = new AgentDelayReader(http.get);
      const asked = {
        ...(projectPod(pod(1) as Json) as PodRecord),
        agent: { ip: '127.0.0.1', probePort: port, metricsPort: port },
      };
      const never = new AbortController().signal;
      return repeating(
        async () => {
          const { kind } = await reader.read(asked, never);
          if (kind !== 'unknown') throw new Error(`expected no usable answer, got ${kind}`);
        },
        agentsAtOnce,
        async () => {
          await http.close();
          await agent.end();
        },
      );
    },
  },
  {
    name: 'AdmissionReviews of 8 MiB',
    start: async ({ webhook }) =>
      sending({ kind: 'webhook', port: webhook.running.address.port, body: largestReview() }),
  },
  {
    name: 'a set of heavy maintenance windows, edited again and again',
    start: async () => {
      const bench = new Bench();
      const program = bench.start();
      let edits = 0;
      return repeating(async () => {
        edits += 1;
        bench.setting({ maintenanceWindows: heavyWindows(edits) });
        program.sync();
        await program.pass();
      });
    },
  },
];
