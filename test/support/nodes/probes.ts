import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import { restarting } from './advance.ts';
import { type ContainerMemory, isRunning, isStarted, isUnseen } from './container.ts';
import { faultOf, type KubeletInput, type Moving } from './pod-memory.ts';
import type { NodesSettings } from './settings.ts';

// What the kubelet's probes find. Those of MySQL itself are answered by `Databases`.

export function hasStarted(container: ContainerMemory, input: KubeletInput): boolean {
  const { settings, now } = input;
  return isUnseen(container) || isStarted(container, startupMilliseconds(container, settings), now);
}

/** The container with its readiness. One that was ready stays so while MySQL doesn't serve, until the kubelet believes it. */
export function probed(container: ContainerMemory, all: readonly ContainerMemory[], input: Moving): ContainerMemory {
  const { settings, now } = input;
  const runs = mayBeReady(container, input);
  const passes = probePasses(container, all, input);
  const serves = runs && passes && answersReady(container, input);
  if (serves || !runs || !container.ready || passes) return { ...container, ready: serves, failingSince: null };
  const failingSince = container.failingSince ?? now.monotonicMilliseconds;
  const isBelieved = now.monotonicMilliseconds - failingSince >= settings.readinessPatienceMilliseconds;
  return { ...container, ready: !isBelieved, failingSince };
}

/** The agent answers mysqld's liveness probe: mysqld ends once the agent has been away for too long. */
export function alive(container: ContainerMemory, all: readonly ContainerMemory[], input: Moving): ContainerMemory {
  const due = container.name === mysqldContainer ? livenessFailsAt(all, input) : null;
  return due === null || due > input.now.monotonicMilliseconds || container.state.kind !== 'running'
    ? container
    : restarting(container, container.state, 0, input.now, input.settings);
}

/**
 * When mysqld's liveness probe has failed for too long; `null` if it passes, or its startup probe has not passed. A kubelet
 * that pulls an image for the pod acts on it afterwards, although the agent is back then.
 */
export function livenessFailsAt(all: readonly ContainerMemory[], input: KubeletInput): number | null {
  const { settings } = input;
  const [mysqld, agent] = [mysqldContainer, agentContainer].map((name) => all.find((one) => one.name === name));
  if (mysqld?.state.kind !== 'running') return null;
  const isBack = agent?.state.kind === 'running' && agent.state.since < input.now.monotonicMilliseconds;
  const awaySince = agent === undefined || isBack || isUnseen(agent) ? null : agent.endedAt;
  const hadStarted = awaySince !== null && mysqld.state.since + settings.startupMilliseconds <= awaySince;
  return hadStarted ? awaySince + settings.livenessPatienceMilliseconds : null;
}

/** When time alone changes what probes find. */
export function nextProbes(container: ContainerMemory, settings: NodesSettings): readonly number[] {
  const { state, failingSince } = container;
  return [
    ...(state.kind === 'running' ? [state.since + startupMilliseconds(container, settings)] : []),
    ...(failingSince === null ? [] : [failingSince + settings.readinessPatienceMilliseconds]),
  ];
}

/** It has started, and nothing keeps its probe from passing. */
function mayBeReady(container: ContainerMemory, input: Moving): boolean {
  return hasStarted(container, input) && faultOf(container, input) !== 'notReady';
}

/** MySQL serves, and `agent` runs to say so. Other containers have no probe. */
function probePasses(container: ContainerMemory, all: readonly ContainerMemory[], input: Moving): boolean {
  if (container.name !== mysqldContainer) return true;
  const agent = all.find(({ name }) => name === agentContainer);
  const isProbed = input.now.monotonicMilliseconds >= input.memory.probedFrom;
  return isProbed && input.mysqldServes && (agent === undefined || isRunning(agent));
}

function answersReady(container: ContainerMemory, input: Moving): boolean {
  const { settings, pod } = input;
  if (container.name !== mysqldContainer) return true;
  const { labelBeforeReady } = settings;
  const labelled = labelBeforeReady === null || pod.metadata.labels?.[labelBeforeReady] !== undefined;
  return container.ready || labelled;
}

function startupMilliseconds(container: ContainerMemory, settings: NodesSettings): number {
  return container.name === mysqldContainer ? settings.startupMilliseconds : 0;
}
