import { withContainerFault } from '../../hack/nodes/fault-script.ts';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { path } from '../../src/kube/resource.ts';
import { mysqldContainer } from '../../src/moco/names.ts';
import { asked, podName } from './acts-of-people.ts';
import type { Happening } from './happening.ts';
import { clusterName, namespace, type Simulation } from './simulation.ts';
import { foreignOwner } from './situations.ts';

// What the API server refuses, what becomes of the MySQLRollout, and who is there at all.

type Of<Kind extends Happening['kind']> = Extract<Happening, { readonly kind: Kind }>;

const rolloutPath = path(rolloutKind, { namespace, name: clusterName });
const foreignFinalizer = 'example.com/keeps';

/** Every process is killed, and none comes back for a while. Whether there was one. */
export function programAway({ processes, mocoGoesOn }: Simulation, { forMilliseconds }: Of<'programAway'>): boolean {
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

/** Somebody is not allowed something for a while; who makes pods tries again when it is over. */
export function refuse({ server, clock, controllers }: Simulation, what: Of<'refuseEvictions' | 'refusePods'>): void {
  const { refusals } = server;
  if (what.kind === 'refuseEvictions') refusals.evictions = what.code;
  else refusals.pods = 403;
  clock.after(what.forMilliseconds, () => {
    if (what.kind === 'refuseEvictions') refusals.evictions = null;
    else refusals.pods = null;
    controllers.lookAtAll();
  });
}

/** Whoever is made anew there waits for its image. */
export function slowPull(simulation: Simulation, { ordinal, forMilliseconds }: Of<'slowPull'>): void {
  const { kubelets, clock, situations } = simulation;
  kubelets.faultPlace(namespace, podName(ordinal), withContainerFault(mysqldContainer, 'hangs'));
  clock.after(forMilliseconds, () => {
    situations.look(simulation.members, clock.nowMilliseconds);
    kubelets.heal(namespace, podName(ordinal));
  });
}

/** Applied from another cluster with all of its metadata; deleted when somebody notices. */
export function copyRollout(simulation: Simulation, { forMilliseconds }: Of<'copyRollout'>): boolean {
  simulation.clock.after(forMilliseconds, () => void asked(simulation, { method: 'DELETE', path: rolloutPath }));
  const body = { metadata: { ownerReferences: [foreignOwner] } };
  return asked(simulation, { method: 'PATCH', path: rolloutPath, body });
}

/** Deleted, and kept by somebody's finalizer for a while. */
export function keepRollout(simulation: Simulation, { forMilliseconds }: Of<'keepRollout'>): boolean {
  const finalizers = (list: readonly string[]): boolean =>
    asked(simulation, { method: 'PATCH', path: rolloutPath, body: { metadata: { finalizers: list } } });
  simulation.clock.after(forMilliseconds, () => finalizers([]));
  return finalizers([foreignFinalizer]) && asked(simulation, { method: 'DELETE', path: rolloutPath });
}
