import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import manifest from '../package.json' with { type: 'json' };
import { type RunningWebhook, startWebhook } from './admission/server.ts';
import { delay } from './base/delay.ts';
import { realWorld, type World } from './base/world.ts';
import { Controller, type ControllerOptions } from './controller/controller.ts';
import { prometheusChecks } from './controller/questions/checks.ts';
import { defaultPolicy } from './core/policy.ts';
import { LeaseLostError, UsageError } from './failure.ts';
import { ApiClient } from './kube/api-client.ts';
import { connect } from './kube/connection.ts';
import { kubernetesVersion, untilSupported } from './kube/kubernetes-version.ts';
import { LeaseElector } from './kube/lease-elector.ts';
import { PodHttp } from './kube/plain-http.ts';
import { PrometheusHttp } from './kube/prometheus-http.ts';
import { onServerClock } from './kube/server-clock.ts';
import { AgentDelayReader, AgentMemberReader, agentTimeoutMilliseconds } from './moco/agent.ts';
import { type MysqlAccess, SecretAsker } from './mysql/mysql-asker.ts';
import { watchPolicy } from './objects/controller-policy.ts';
import { type FeatureGateName, featureGates, type Options } from './options/flags.ts';
import { flagsAnnotation, fleetLimitsOf, publish } from './options/published.ts';
import { healthHandler, shared, startHttpServer } from './telemetry/http-server.ts';
import { createLog } from './telemetry/log.ts';
import { createMetrics } from './telemetry/metrics.ts';
import { Watchdog } from './telemetry/watchdog.ts';

// The controller as a program. It connects its components, starts them in order, and stops them in reverse order within
// the grace period of the pod.

const leaseName = 'moco-rollout';
const leaseLost = 'the lease was lost: stopping, so that two controllers never act at the same time';
const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
/** The maximum time for the shutdown, well within a pod's default grace period of 30 s. */
const stopGraceMilliseconds = 10_000;

/** The components of the program, connected but not started. */
type Program = Awaited<ReturnType<typeof connectParts>>;

/** Stops one component that was started, within the time that is left. */
type Closer = (leftMilliseconds: () => number) => Promise<void> | void;

/**
 * Runs the controller until SIGTERM. Starts health → metrics → webhook → caches → lease → workers, and shuts down in
 * reverse order. Rejects if something that the controller needs is unavailable, or if the lease is lost.
 */
export async function run(options: Options): Promise<void> {
  const asked = terminationSignal();
  const program = await connectParts(options);
  try {
    await startHealth(program);
    const kubernetes = await Promise.race([asked, kubernetesVersion(program.client, program.stop.signal)]);
    if (kubernetes === undefined) return;
    const { log, connection, metrics } = program;
    log.info({ version: manifest.version, server: connection.server, kubernetes, ...options.featureGates }, 'Starting');
    await startServer(program, options.metricsBindAddress, '--metrics-bind-address', {
      '/metrics': shared(metrics.handler, () => program.world.monotonic()),
    });
    await startWebhookServer(program);
    const watching = program.controller.watch(program.stop.signal);
    program.closers.push(() => watching.catch(() => undefined));
    startWorking(program, kubernetes);
    await startPolicyWatch(program);
    await Promise.race([asked, watching, lost(program.stop.signal)]);
  } finally {
    await shutdown(program);
  }
}

async function connectParts(options: Options) {
  const log = createLog({ level: options.logLevel, format: options.logFormat });
  const connection = connect({ kubeconfigPath: options.kubeconfigPath });
  const gates = Object.entries(featureGates).map(([name, { stage }]) => ({
    name,
    stage,
    enabled: options.featureGates[name as FeatureGateName],
  }));
  const metrics = createMetrics(manifest.version, gates, {
    servesWebhook: options.webhookBindAddress !== null,
    drivesPartitions: options.partitionDriver === 'own',
  });
  const machine = realWorld(metrics.apiClient.counting(connection.exchange, () => performance.now()));
  const world = onServerClock(machine, log);
  const stop = new AbortController();
  const isLeading = (): boolean => !stop.signal.aborted && (elector?.isLeader() ?? true);
  const client = new ApiClient({
    world,
    qps: options.kubeApiQps,
    burst: options.kubeApiBurst,
    userAgent: `moco-rollout/${manifest.version}`,
    mayWrite: (priority) => priority === 'lease' || isLeading(),
  });
  const holder = `${hostname()}_${randomBytes(4).toString('hex')}`;
  const elector = options.leaderElect
    ? new LeaseElector({
        client,
        world,
        log,
        namespace: options.leaderElectionNamespace ?? (await ownNamespace()),
        name: leaseName,
        identity: holder,
        annotations: { [flagsAnnotation]: publish(options) },
        leaseDurationMilliseconds: options.leaseDurationMilliseconds,
        renewDeadlineMilliseconds: options.renewDeadlineMilliseconds,
        retryPeriodMilliseconds: options.retryPeriodMilliseconds,
        onStartedLeading: () => void controller.work(),
        onStoppedLeading: () => stop.abort(new LeaseLostError(leaseLost)),
      })
    : null;
  const pods = new PodHttp(world, agentTimeoutMilliseconds);
  const prometheus = prometheusOf(options, world);
  await prometheus?.checkFiles();
  const controller = new Controller({
    client,
    world,
    delays: new AgentDelayReader(pods.get),
    members: new AgentMemberReader(pods.get),
    ...(options.featureGates.ReplicationFacts && { mysql: new SecretAsker(client, world, mysqlAccess(options)) }),
    readCheck: prometheusChecks(prometheus?.query ?? null),
    log,
    metrics,
    ...controllerSettings(options),
    holder,
    isLeading,
  });
  const watchdog = new Watchdog({
    clock: world,
    onStall: (milliseconds) => log.warn({ milliseconds: Math.round(milliseconds) }, 'Event loop was blocked'),
  });
  // Functions that stop the components, in the order in which the components were started.
  const closers: Closer[] = [
    () => connection.close(),
    () => pods.close(),
    () => prometheus?.close(),
    () => watchdog.stop(),
  ];
  const webhook = null as RunningWebhook | null;
  return { options, connection, world, client, log, metrics, elector, controller, watchdog, stop, closers, webhook };
}

const mysqlAccess = ({ mysqlSecretName, mysqlTls, mysqlCaFile }: Options): MysqlAccess => ({
  secretName: mysqlSecretName,
  tls: mysqlTls,
  caFile: mysqlCaFile,
});

function controllerSettings(
  options: Options,
): Pick<
  ControllerOptions,
  | 'defaults'
  | 'strategies'
  | 'leavingSigns'
  | 'fleetLimits'
  | 'mocoLease'
  | 'namespaces'
  | 'concurrency'
  | 'dryRunPods'
  | 'evictions'
  | 'confirmationTimeoutMilliseconds'
> {
  return {
    defaults: {
      policy: {
        ...defaultPolicy,
        minReadySeconds: options.minReadySeconds,
        replicaDelayGraceSeconds: options.replicaDelayGraceSeconds,
        silentMemberGraceSeconds: options.silentMemberGraceSeconds,
      },
      strategy: options.defaultStrategy,
      maxOverrideSeconds: options.maxOverrideMilliseconds / 1000,
    },
    strategies: {
      onDeleteEnabled: options.featureGates.UpdateStrategyOnDelete,
      inPlaceEnabled: options.featureGates.InPlaceUpdate,
      nodeMaintenanceEnabled: options.featureGates.NodeMaintenance,
      partitionDriver: options.partitionDriver,
    },
    leavingSigns: { taints: options.leavingNodeTaints, annotations: options.leavingNodeAnnotations },
    fleetLimits: fleetLimitsOf(options),
    mocoLease: { namespace: options.mocoLeaseNamespace, name: options.mocoLeaseName },
    namespaces: options.namespaces,
    concurrency: options.maxConcurrentReconciles,
    dryRunPods: options.dryRunPods,
    ...(options.featureGates.EvictionRequests && {
      evictions: { limitMilliseconds: options.evictionRequestTimeoutMilliseconds },
    }),
    confirmationTimeoutMilliseconds: options.confirmationTimeoutMilliseconds,
  };
}

async function startHealth(program: Program): Promise<void> {
  const { options, controller, watchdog } = program;
  const certificate = (): string | null =>
    program.webhook !== null || options.webhookBindAddress === null
      ? null
      : 'the webhook has not loaded its certificate yet';
  const caches = (): string | null => (controller.hasSynced ? null : 'not every kind has been listed yet');
  await startServer(program, options.healthProbeBindAddress, '--health-probe-bind-address', {
    '/healthz': healthHandler('healthz', { eventLoop: watchdog.check }),
    '/readyz': healthHandler('readyz', { certificate, caches }),
  });
}

async function startServer(
  { log, closers }: Program,
  address: Options['metricsBindAddress'],
  flag: string,
  handlers: Parameters<typeof startHttpServer>[0]['handlers'],
): Promise<void> {
  if (address === null) return;
  const onError = (path: string, error: unknown): void => log.error({ path, error }, 'HTTP handler failed');
  const server = await startHttpServer({ address, flag, handlers, onError });
  closers.push(() => server.close());
}

async function startWebhookServer(program: Program): Promise<void> {
  const { options, log, metrics, closers } = program;
  if (options.webhookBindAddress === null) return;
  const server = await startWebhook({
    address: options.webhookBindAddress,
    certDir: options.certDir,
    ...(options.clientCaFile !== null && { clientCaFile: options.clientCaFile }),
    log,
    onAnswered: (code, milliseconds) => metrics.webhook?.answered(code, milliseconds),
  });
  program.webhook = server;
  closers.push((leftMilliseconds) => server.close(leftMilliseconds()));
}

/**
 * Starts the workers when the caches are in sync and the API server has a supported version. With leader election, the
 * workers also wait until this process has acquired the lease.
 */
function startWorking({ controller, elector, client, world, log, stop, closers }: Program, kubernetes: string): void {
  const ready = Promise.all([controller.synced(), untilSupported(kubernetes, { client, world, log }, stop.signal)]);
  const working = ready.then(() =>
    stop.signal.aborted ? undefined : (elector?.run(stop.signal) ?? controller.work()),
  );
  closers.push(() => working);
}

/** The check creates a Lease in a dry run. Without leader election, no role lets this program create a Lease. */
async function startPolicyWatch({ options, client, world, log, metrics, stop, closers }: Program): Promise<void> {
  if (!options.leaderElect) return;
  const namespace = options.leaderElectionNamespace ?? (await ownNamespace());
  const watching = watchPolicy({ client, world, log, namespace, show: metrics.showPolicy }, stop.signal);
  closers.push(() => watching);
}

async function shutdown({ controller, elector, world, log, stop, closers }: Program): Promise<void> {
  const endByMilliseconds = world.monotonic() + stopGraceMilliseconds;
  const leftMilliseconds = (): number => Math.max(0, endByMilliseconds - world.monotonic());
  await controller.drain(stopGraceMilliseconds / 2);
  stop.abort();
  // A lost lease must not be released, because a process without the lease starts no write at all.
  if (!(stop.signal.reason instanceof LeaseLostError)) await atMost(elector?.release(), leftMilliseconds(), world);
  for (const close of closers.toReversed()) await close(leftMilliseconds);
  log.info({}, 'Stopped');
}

/** Rejects once `signal` is aborted, with the reason of the abort. */
async function lost(signal: AbortSignal): Promise<never> {
  await once(signal, 'abort');
  throw signal.reason instanceof Error ? signal.reason : new Error('aborted');
}

async function atMost(work: Promise<void> | undefined, milliseconds: number, world: World): Promise<void> {
  const enough = new AbortController();
  await Promise.race([work, delay(world, milliseconds, enough.signal)]);
  enough.abort();
}

async function terminationSignal(): Promise<void> {
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
}

async function ownNamespace(): Promise<string> {
  try {
    return (await readFile(namespaceFile, 'utf8')).trim();
  } catch {
    throw new UsageError('expected --leader-election-namespace, which --leader-elect needs outside of a pod, got none');
  }
}

function prometheusOf(options: Options, world: World): PrometheusHttp | null {
  const { prometheusUrl: url } = options;
  if (url === null) return null;
  const {
    prometheusCaFile: caFile,
    prometheusTokenFile: tokenFile,
    prometheusBasicAuthFile: basicAuthFile,
    prometheusHeadersFile: headersFile,
    prometheusProxyUrl: proxyUrl,
  } = options;
  return new PrometheusHttp({ url, caFile, tokenFile, basicAuthFile, headersFile, proxyUrl }, world);
}
