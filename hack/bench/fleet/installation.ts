import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { delay } from '../../../src/base/delay.ts';
import { type ControlPlane, startControlPlane } from '../../../test/support/control-plane/control-plane.ts';
import { freePort } from '../../../test/support/control-plane/free-port.ts';
import { Guard } from '../../../test/support/control-plane/guard.ts';
import { clusterDefinitionFile } from '../../../test/support/moco/install.ts';
import { startNodes } from '../../../test/support/nodes/driver.ts';
import { type Access, accessWith } from '../../../test/support/object-client.ts';
import { startRealMoco } from '../../../test/support/real-moco/driver.ts';
import { installAdmissionPolicy } from '../../../test/support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../../../test/support/stage/kept-on-delete.ts';
import { MeasuredProcess } from '../runtime/measured-process.ts';
import { theImage } from '../runtime/variants.ts';
import { bundleCopy } from './bundle-copy.ts';
import type { Pids } from './processor-time.ts';
import { restartOf } from './restart.ts';

// Starts the programs that the fleet benchmark compares, and those that run alongside.

const configuration = fileURLToPath(new URL('../../../config/', import.meta.url));
const program = (name: string): string => fileURLToPath(new URL(`${name}/main.ts`, import.meta.url));
const systemNamespace = 'moco-rollout-system';

/** The delay between two checks of whether the policy is in force. */
const pollMilliseconds = 100;

/** The ways to roll the fleet out: with one of two programs, or only with MOCO, which lowers the partitions itself. */
export type RivalName = ProgramName | "MOCO's partitions";
type ProgramName = 'controller' | 'plain loop';

export interface InstallationOptions {
  /** `real`: moco-controller itself, with databases that contain no data. */
  readonly moco: 'stand-in' | 'real';
  /** A build of moco-controller that differs from the released one. */
  readonly mocoController?: string | undefined;
  /** The time from the deletion of a pod to the end of its processes. */
  readonly terminationSeconds: number;
}

interface Parts {
  readonly controlPlane: ControlPlane;
  readonly access: Access;
  readonly guard: Guard;
  /** The processes of MOCO and the nodes. */
  readonly around: Pids;
  readonly bundle: string;
  readonly kubeconfigs: Readonly<Record<ProgramName, string>>;
  readonly closers: readonly (() => Promise<unknown>)[];
}

/**
 * The environment of the compared programs on a separate control plane: the stand-ins in one process, and this
 * project's CRD, RBAC and admission policy, which keeps StatefulSets at OnDelete for both programs. Both programs use a
 * ServiceAccount, because the API server's fairness applies only to those.
 */
export class Installation {
  readonly #parts: Parts;

  private constructor(parts: Parts) {
    this.#parts = parts;
  }

  get access(): Access {
    return this.#parts.access;
  }

  get auditFile(): string {
    return join(this.#parts.controlPlane.directory, 'audit.log');
  }

  static async open(options: InstallationOptions): Promise<Installation> {
    const guard = new Guard();
    const closers: (() => Promise<unknown>)[] = [() => guard.close()];
    try {
      const bundle = await bundleCopy(guard);
      const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-fleet-'));
      guard.remove(directory);
      const rightsFile = join(directory, 'rights.yaml');
      await writeFile(rightsFile, plainLoopRights);
      const controlPlane = await startControlPlane({
        manifests: [
          ...(options.moco === 'real' ? [] : [clusterDefinitionFile]),
          join(configuration, 'crd'),
          join(configuration, 'default/namespace.yaml'),
          join(configuration, 'rbac'),
          rightsFile,
        ],
        audit: { writes: 'Metadata' },
      });
      closers.push(() => controlPlane.stop());
      const access = accessWith(await controlPlane.kubeconfigForUser('benchmark'), { userAgent: 'benchmark' });
      const { client, world } = access;
      closers.push(() => access.connection.close());
      const around = await startAround({ ...options, controlPlane, client, world, directory, guard, closers });
      await installAdmissionPolicy(client);
      while (!(await isKeptOnDelete(client))) await delay(world, pollMilliseconds);
      const account = (name: string): Promise<string> =>
        controlPlane.kubeconfigFor({ namespace: systemNamespace, name });
      const kubeconfigs = { controller: await account('moco-rollout'), 'plain loop': await account('plain-loop') };
      return new Installation({ controlPlane, access, guard, around, bundle, kubeconfigs, closers });
    } catch (error) {
      for (const close of closers.toReversed()) await close();
      throw error;
    }
  }

  /** Starts the controller as the image does, with a lease as in `config/manager`. Does not wait until it is ready. */
  async controller(flags: readonly string[]): Promise<MeasuredProcess> {
    const port = async (): Promise<string> => `127.0.0.1:${await freePort()}`;
    const words = [
      ...theImage.nodeFlags,
      this.#parts.bundle,
      `--kubeconfig=${this.#parts.kubeconfigs.controller}`,
      '--feature-gates=UpdateStrategyOnDelete=true',
      // Turned off, because the plain loop has neither of these two limits.
      '--max-concurrent-rollouts=0',
      '--verify-first-cluster=false',
      '--leader-elect',
      `--leader-election-namespace=${systemNamespace}`,
      `--metrics-bind-address=${await port()}`,
      `--health-probe-bind-address=${await port()}`,
      ...flags,
    ];
    return new MeasuredProcess(words, this.#parts.guard, theImage.environment);
  }

  /** Starts the plain loop and waits until it has listed everything. */
  async plainLoop(): Promise<MeasuredProcess> {
    const { 'plain loop': kubeconfig } = this.#parts.kubeconfigs;
    const words = [program('plain-loop'), kubeconfig];
    const loop = new MeasuredProcess(words, this.#parts.guard);
    await loop.logged('the plain loop runs');
    return loop;
  }

  /** The processes that run alongside the rivals. */
  get pids(): Pids {
    const { etcd = 0, apiServer = 0, controllerManager = 0 } = this.#parts.controlPlane.pids;
    return {
      etcd,
      'API server': apiServer,
      'controller-manager': controllerManager,
      ...this.#parts.around,
      benchmark: process.pid,
    };
  }

  async close(): Promise<void> {
    for (const close of this.#parts.closers.toReversed()) await close();
  }
}

interface Around extends InstallationOptions, Access {
  readonly controlPlane: ControlPlane;
  readonly directory: string;
  readonly guard: Guard;
  readonly closers: (() => Promise<unknown>)[];
}

/** Starts MOCO and the nodes. With the real moco-controller, the nodes and the databases run in this process. */
async function startAround(around: Around): Promise<Pids> {
  const { moco, mocoController, terminationSeconds, controlPlane, guard, closers } = around;
  const nodesKubeconfig = await controlPlane.kubeconfigForUser('nodes');
  if (moco === 'stand-in') {
    const words = [
      program('stand-ins'),
      await controlPlane.kubeconfigForUser('moco-controller'),
      nodesKubeconfig,
      String(terminationSeconds),
    ];
    const standIns = new MeasuredProcess(words, guard);
    closers.push(() => standIns.stop());
    await standIns.logged('the stand-ins run');
    return { 'stand-ins': standIns.pid };
  }
  const { client, world, connection } = accessWith(nodesKubeconfig, { userAgent: 'nodes' });
  closers.push(() => connection.close());
  const real = await startRealMoco({ ...around, user: 'moco-controller', program: mocoController });
  closers.push(() => real.stop());
  const nodes = await startNodes({
    client,
    world,
    databases: real,
    settings: restartOf(terminationSeconds),
    network: real.network,
  });
  closers.push(() => nodes.stop());
  return { 'moco-controller': real.pid };
}

/** No fine-grained roles: the benchmark does not measure rights. */
const plainLoopRights = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: plain-loop, namespace: ${systemNamespace}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: plain-loop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: ServiceAccount, name: plain-loop, namespace: ${systemNamespace}}]
`;
