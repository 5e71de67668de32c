import { rolloutKind } from '../../../src/api/rollout.ts';
import { path } from '../../../src/kube/resource.ts';
import { mysqldContainer } from '../../../src/moco/names.ts';
import { withContainerFault } from '../../support/nodes/fault-script.ts';
import { asked, podName } from './acts-of-people.ts';
import type { Happening } from './happening.ts';
import { clusterName, namespace, type Simulation } from './simulation.ts';
import { foreignOwner } from './situations.ts';

// Refusals of the API server, changes of the MySQLRollout, and outages of processes.

type Of<Kind extends Happening['kind']> = Extract<Happening, { readonly kind: Kind }>;

const rolloutPath = path(rolloutKind, { namespace, name: clusterName });
const foreignFinalizer = 'example.com/keeps';

/** Kills every process, and none returns for a while. Returns whether there was one. */
export function programStopped(
  { processes, mocoGoesOn }: Simulation,
  { forMilliseconds }: Of<'programStopped'>,
): boolean {
  const ran = processes.some(({ isRunning }) => isRunning);
  for (const process of processes) process.crash('was taken away', forMilliseconds);
  mocoGoesOn.look();
  return ran;
}

export function stopMoco(simulation: Simulation, what: Of<'stopMoco'>): void {
  const { moco, clock, processes, situations, mocoGoesOn } = simulation;
  moco.stop(what);
  clock.after(what.forMilliseconds, () => {
    simulation.struck('stopMoco');
    if (!processes.some(({ isServing }) => isServing)) situations.find('mocoRestartsAlone');
    moco.start();
    mocoGoesOn.look();
  });
}

/** Forbids something for a while; the StatefulSet controller retries afterwards. */
export function refuse({ server, clock, controllers }: Simulation, what: Of<'refuseEvictions' | 'refusePods'>): void {
  const { refusals } = server;
  if (what.kind === 'refuseEvictions') refusals.evictions = what.code;
  else refusals.pods = 403;
  clock.after(what.forMilliseconds, () => {
    if (what.kind === 'refuseEvictions') refusals.evictions = null;
    else refusals.pods = null;
    controllers.checkAll();
  });
}

/** New pods there wait for their image. */
export function slowPull(simulation: Simulation, { ordinal, forMilliseconds }: Of<'slowPull'>): void {
  const { kubelets, clock, situations } = simulation;
  kubelets.faultPlace(namespace, podName(ordinal), withContainerFault(mysqldContainer, 'hangs'));
  clock.after(forMilliseconds, () => {
    situations.look(simulation.members, clock.nowMilliseconds);
    kubelets.heal(namespace, podName(ordinal));
  });
}

/** Applied from another cluster with all of its metadata; deleted when a user notices. */
export function copyRollout(simulation: Simulation, { forMilliseconds }: Of<'copyRollout'>): boolean {
  simulation.clock.after(forMilliseconds, () => void asked(simulation, { method: 'DELETE', path: rolloutPath }));
  const body = { metadata: { ownerReferences: [foreignOwner] } };
  return asked(simulation, { method: 'PATCH', path: rolloutPath, body });
}

/** Deleted, and kept by another finalizer for a while. */
export function keepRollout(simulation: Simulation, { forMilliseconds }: Of<'keepRollout'>): boolean {
  const finalizers = (list: readonly string[]): boolean =>
    asked(simulation, { method: 'PATCH', path: rolloutPath, body: { metadata: { finalizers: list } } });
  simulation.clock.after(forMilliseconds, () => finalizers([]));
  return finalizers([foreignFinalizer]) && asked(simulation, { method: 'DELETE', path: rolloutPath });
}
