import { once } from 'node:events';
import { Agent, createServer, get } from 'node:http';
import { request } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { connect as connectSecurely } from 'node:tls';
import { parentPort, workerData } from 'node:worker_threads';
import type { Task } from './client.ts';

// The thread of a client. It answers each message with the numbers that it has collected.

const loopback = '127.0.0.1';
const pipelinedRequests = 8000;
const pipelinedConnections = 40;
const reviewsAtOnce = 4;
const pauseMilliseconds = 100;

const numbers: number[] = [];
const taken = (): readonly number[] => numbers.splice(0);
/** Replaced by a task that has only one number, such as a port. */
let answer: () => readonly number[] = taken;

const acts: { readonly [Kind in Task['kind']]: (task: Extract<Task, { kind: Kind }>) => Promise<void> } = {
  probe: async ({ port }) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (;;) {
      const start = performance.now();
      await new Promise<void>((resolve, reject) => {
        get({ host: loopback, port, path: '/healthz', agent }, (response) =>
          response.resume().on('end', resolve).on('error', reject),
        ).on('error', reject);
      });
      numbers.push(performance.now() - start);
      await after(pauseMilliseconds);
    }
  },

  pipeline: async ({ port, secure }) => {
    const each = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(pipelinedRequests / pipelinedConnections);
    for (;;) {
      const ended = Array.from({ length: pipelinedConnections }, async () => {
        const socket = secure
          ? connectSecurely({ host: loopback, port, rejectUnauthorized: false })
          : connect(port, loopback);
        socket.on('error', () => {});
        socket.resume().write(each);
        numbers.push(pipelinedRequests / pipelinedConnections);
        const closed = new Promise((resolve) => socket.once('close', resolve));
        await Promise.race([closed, after(pauseMilliseconds * 10)]);
        socket.destroy();
      });
      await Promise.all(ended);
    }
  },

  webhook: async ({ port, body }) => {
    const post = (): Promise<void> =>
      new Promise((resolve) => {
        const sent = request(
          { host: loopback, port, path: '/mutate-statefulset', method: 'POST', rejectUnauthorized: false },
          (response) =>
            response
              .resume()
              .on('end', resolve)
              .on('error', () => resolve()),
        );
        sent.on('error', () => resolve());
        sent.setHeader('Content-Type', 'application/json');
        sent.end(body);
      });
    const endless = Array.from({ length: reviewsAtOnce }, async () => {
      for (;;) {
        await post();
        numbers.push(1);
      }
    });
    await Promise.all(endless);
  },

  agent: async ({ body }) => {
    const server = createServer(({ url }, response) => void response.end(url === '/metrics' ? body : 'ok'));
    server.listen(0, loopback);
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    answer = () => [port];
  },
};

const task = workerData as Task;
const ready = (acts[task.kind] as (one: Task) => Promise<void>)(task);
parentPort?.on('message', () => {
  if (task.kind === 'agent') void ready.then(() => parentPort?.postMessage(answer()));
  else parentPort?.postMessage(answer());
});
