import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import manifest from '../package.json' with { type: 'json' };
import { Controller } from './controller/controller.ts';
import { kubernetesVersion, untilSupported } from './controller/kubernetes-version.ts';
import { defaultPolicy } from './core/policy.ts';
import { LeaseLostError, UsageError } from './failure.ts';
import { ApiClient } from './kube/api-client.ts';
import { connect } from './kube/connection.ts';
import { delay } from './kube/delay.ts';
import { LeaseElector } from './kube/lease-elector.ts';
import { realWorld } from './kube/real-world.ts';
import type { World } from './kube/world.ts';
import { featureGates } from './options/feature-gates.ts';
import type { Options } from './options.ts';
import { healthHandler } from './telemetry/health.ts';
import { startHttpServer } from './telemetry/http-server.ts';
import { createLog } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { Watchdog } from './telemetry/watchdog.ts';
import { type RunningWebhook, startWebhook } from './webhook/server.ts';

const leaseName = 'moco-rollout';
const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
/** What stops has this long altogether, well within a pod's default grace period of 30 s. */
const stopGraceMilliseconds = 10_000;

/**
 * The controller from start to SIGTERM. Starts health → webhook → caches → lease → workers, and stops the other way
 * round. Rejects where something that it needs can't be had, and when its lease is lost.
 */
export async function run(options: Options): Promise<void> {
  const log = createLog({ level: options.logLevel, format: options.logFormat });
  const connection = connect({ kubeconfigPath: options.kubeconfigPath });
  const world = realWorld(connection.exchange);
  const isLeading = (): boolean => !stop.signal.aborted && (elector?.isLeader() ?? true);
  const userAgent = `moco-rollout/${manifest.version}`;
  const client = new ApiClient({
    world,
    qps: options.kubeApiQps,
    burst: options.kubeApiBurst,
    userAgent,
    mayWrite: (lane) => lane === 'lease' || isLeading(),
  });
  const enabled = options.featureGates.UpdateStrategyOnDelete;
  const gate = featureGates.UpdateStrategyOnDelete;
  const metrics = createMetrics(manifest.version, [{ name: 'UpdateStrategyOnDelete', stage: gate.stage, enabled }]);
  const identity = `${hostname()}_${randomBytes(4).toString('hex')}`;
  const stop = new AbortController();
  const asked = whenAskedToStop();

  const elector = options.leaderElect
    ? new LeaseElector({
        client,
        world,
        log,
        namespace:
          options.leaderElectionNamespace ?? (await ownNamespace('--leader-election-namespace with --leader-elect')),
        name: leaseName,
        identity,
        leaseDurationMilliseconds: options.leaseDurationMilliseconds,
        renewDeadlineMilliseconds: options.renewDeadlineMilliseconds,
        retryPeriodMilliseconds: options.retryPeriodMilliseconds,
        onStartedLeading: () => void controller.work(),
        onStoppedLeading: () =>
          stop.abort(new LeaseLostError('the lease was lost: stopping, so that two never act at once')),
      })
    : null;
  const controller = new Controller({
    client,
    world,
    log,
    metrics,
    defaults: {
      policy: { ...defaultPolicy, minReadySeconds: options.minReadySeconds },
      strategy: options.defaultStrategy,
    },
    strategies: { onDeleteEnabled: enabled, partitionDriver: options.partitionDriver },
    fleetLimits: {
      maxConcurrentRollouts: options.maxConcurrentRollouts,
      releaseStalledSlots: options.releaseStalledSlots,
      disruptionIntervalSeconds: options.disruptionIntervalMilliseconds / 1000,
      partitionUpdateIntervalSeconds: options.partitionUpdateIntervalMilliseconds / 1000,
    },
    namespaces: options.namespaces,
    concurrency: options.maxConcurrentReconciles,
    holder: identity,
    isLeading,
  });
  const watchdog = new Watchdog({
    clock: world,
    onStall: (milliseconds) => log.warn({ milliseconds }, 'the event loop stood still'),
  });

  let webhook: RunningWebhook | null = null;
  const closers: (() => Promise<void> | void)[] = [() => connection.close(), () => watchdog.stop()];
  let endByMilliseconds = Number.POSITIVE_INFINITY;
  const leftMilliseconds = (): number => Math.max(0, endByMilliseconds - world.monotonic());
  const onError = (path: string, error: unknown): void => log.error({ path, error }, 'a handler failed');
  try {
    if (options.healthProbeBindAddress !== null) {
      const server = await startHttpServer({
        address: options.healthProbeBindAddress,
        flag: '--health-probe-bind-address',
        handlers: {
          '/healthz': healthHandler('healthz', { eventLoop: watchdog.check }),
          '/readyz': healthHandler('readyz', {
            certificate: () =>
              webhook !== null || options.webhookBindAddress === null
                ? null
                : 'the webhook has not loaded its certificate yet',
            caches: () => (controller.hasSynced ? null : 'not every kind has been listed yet'),
          }),
        },
        onError,
      });
      closers.push(() => server.close());
    }
    const kubernetes = await Promise.race([asked, kubernetesVersion(client, stop.signal)]);
    if (kubernetes === undefined) return;
    log.info(
      { version: manifest.version, server: connection.server, kubernetes, UpdateStrategyOnDelete: enabled },
      'starting',
    );
    if (options.metricsBindAddress !== null) {
      const handlers = { '/metrics': metrics.handler };
      const flag = '--metrics-bind-address';
      const server = await startHttpServer({ address: options.metricsBindAddress, flag, handlers, onError });
      closers.push(() => server.close());
    }
    if (options.webhookBindAddress !== null) {
      const server = await startWebhook({
        address: options.webhookBindAddress,
        certDir: options.certDir,
        ...(options.clientCaFile !== null && { clientCaFile: options.clientCaFile }),
        log,
      });
      webhook = server;
      closers.push(() => server.close(leftMilliseconds()));
    }
    const watching = controller.watch(stop.signal);
    closers.push(() => watching);
    const electing = Promise.all([
      controller.synced(),
      untilSupported(kubernetes, { client, world, log }, stop.signal),
    ]).then(() => (stop.signal.aborted ? undefined : (elector?.run(stop.signal) ?? controller.work())));
    closers.push(() => electing);
    await Promise.race([asked, watching, lost(stop.signal)]);
  } finally {
    endByMilliseconds = world.monotonic() + stopGraceMilliseconds;
    await controller.drain(stopGraceMilliseconds / 2);
    stop.abort();
    // One that was lost isn't ours to give: whoever has lost it starts no write at all.
    if (!(stop.signal.reason instanceof LeaseLostError)) await atMost(elector?.release(), leftMilliseconds(), world);
    for (const close of closers.toReversed()) await close();
    log.info({}, 'stopped');
  }
}

/** Rejects with the reason of an abort that came from within. */
function lost(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () =>
      reject(signal.reason instanceof Error ? signal.reason : new Error('aborted')),
    );
  });
}

/** Waits for the end of it, but not for longer. */
async function atMost(work: Promise<void> | undefined, milliseconds: number, world: World): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, delay(world, milliseconds, enough.signal)]);
  enough.abort();
}

function whenAskedToStop(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => resolve());
  });
}

/** `flags`: what would have told it. */
async function ownNamespace(flags: string): Promise<string> {
  try {
    return (await readFile(namespaceFile, 'utf8')).trim();
  } catch {
    throw new UsageError(`expected ${flags} outside of a pod, got neither it nor the namespace of a pod`);
  }
}
