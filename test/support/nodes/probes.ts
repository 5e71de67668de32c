import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import { type ContainerMemory, isRunning, isStarted } from './container.ts';
import { faultOf, type KubeletInput, type Moving, processesOf } from './pod-memory.ts';
import type { NodesSettings } from './settings.ts';

// What the kubelet's probes find. Those of MySQL itself are answered by `Databases`.

export function hasStarted(container: ContainerMemory, input: KubeletInput): boolean {
  const { settings, now } = input;
  return isStarted(container, startupMilliseconds(container, settings), now, processesOf(container, input));
}

/** The container with its readiness. One that was ready stays so while MySQL doesn't serve, until the kubelet believes it. */
export function probed(container: ContainerMemory, all: readonly ContainerMemory[], input: Moving): ContainerMemory {
  const { settings, now, mysqldServes } = input;
  const runs = mayBeReady(container, all, input);
  const serves = runs && answersReady(container, input);
  if (serves || !runs || !container.ready || mysqldServes) return { ...container, ready: serves, failingSince: null };
  const failingSince = container.failingSince ?? now.monotonicMilliseconds;
  const isBelieved = now.monotonicMilliseconds - failingSince >= settings.readinessPatienceMilliseconds;
  return { ...container, ready: !isBelieved, failingSince };
}

/** When time alone changes what probes find. */
export function nextProbes(container: ContainerMemory, settings: NodesSettings): readonly number[] {
  const { state, failingSince } = container;
  return [
    ...(state.kind === 'running' ? [state.since + startupMilliseconds(container, settings)] : []),
    ...(failingSince === null ? [] : [failingSince + settings.readinessPatienceMilliseconds]),
  ];
}

/** It has started, nothing keeps its probe from passing, and `agent` runs to report what MySQL does. */
function mayBeReady(container: ContainerMemory, all: readonly ContainerMemory[], input: Moving): boolean {
  if (!hasStarted(container, input) || faultOf(container, input) === 'notReady') return false;
  if (container.name !== mysqldContainer || processesOf(container, input) !== null) return true;
  const agent = all.find(({ name }) => name === agentContainer);
  return agent === undefined || isRunning(agent);
}

function answersReady(container: ContainerMemory, input: Moving): boolean {
  const { settings, pod, mysqldServes } = input;
  const processes = processesOf(container, input);
  if (processes !== null) return container.state.kind === 'running' && processes(container.state.id).ready;
  if (container.name !== mysqldContainer) return true;
  const { labelBeforeReady } = settings;
  const labelled = labelBeforeReady === null || pod.metadata.labels?.[labelBeforeReady] !== undefined;
  return mysqldServes && (container.ready || labelled);
}

function startupMilliseconds(container: ContainerMemory, settings: NodesSettings): number {
  return container.name === mysqldContainer ? settings.startupMilliseconds : 0;
}
