import type { ContainerStateStatus, ContainerStatus, Pod } from '../objects.ts';

/** What one version of a pod says that a kubelet or a node controller has written, without times, in short words. */
export type PodWords = Readonly<Record<string, string>>;

/** As an API server shows it; what the stand-ins read of it and a little more. */
export type ShownPod = Pod & { readonly status?: { readonly observedGeneration?: number; readonly reason?: string } };

/** Knows containers by the order in which their IDs were first seen. */
export class ContainerNumbers {
  readonly #ids = new Map<string, readonly string[]>();

  of({ name, containerID }: ContainerStatus): string {
    if (containerID === undefined) return 'none';
    const known = this.#ids.get(name) ?? [];
    const all = known.includes(containerID) ? known : [...known, containerID];
    this.#ids.set(name, all);
    return String(all.indexOf(containerID) + 1);
  }
}

export function wordsOf({ metadata, status = {} }: ShownPod, numbers: ContainerNumbers): PodWords {
  const { generation, deletionTimestamp } = metadata;
  const { phase = 'none', reason, observedGeneration, conditions = [] } = status;
  const age = ageOf(observedGeneration, generation);
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  return {
    phase,
    ...(reason === undefined ? {} : { reason }),
    ...(deletionTimestamp === undefined ? {} : { deletion: 'requested' }),
    generation: age,
    ...Object.fromEntries(
      conditions.flatMap((condition) => {
        const own = ageOf(condition.observedGeneration, generation);
        return [
          [condition.type, [condition.status, condition.reason].filter(isSaid).join(' ')],
          // Of the kubelet's own they are those of the whole status.
          ...(own === age ? [] : [[`${condition.type} generation`, own] as const]),
        ];
      }),
    ),
    ...Object.fromEntries(statuses.flatMap((container) => containerWords(container, numbers))),
  };
}

function containerWords(container: ContainerStatus, numbers: ContainerNumbers): readonly (readonly [string, string])[] {
  const { name, ready, started, restartCount, image, state, lastState, resources } = container;
  const flags = [...(started ? ['started'] : []), ...(ready ? ['ready'] : [])];
  return [
    [name, [stateOf(state), ...flags].join(' ')],
    [`${name} last`, stateOf(lastState)],
    [`${name} restarts`, String(restartCount)],
    [`${name} image`, image.replace(/^docker.io[/]library[/]/, '')],
    [`${name} container`, numbers.of(container)],
    ...(resources === undefined ? [] : [[`${name} resources`, JSON.stringify(sorted(resources))] as const]),
  ];
}

function stateOf({ waiting, running, terminated }: ContainerStateStatus): string {
  if (waiting !== undefined) return `waiting ${waiting.reason}`;
  if (running !== undefined) return 'running';
  return terminated === undefined ? 'none' : `terminated ${terminated.reason} ${terminated.exitCode}`;
}

const isSaid = (word: string | null | undefined): boolean => word !== undefined && word !== null && word !== '';

function ageOf(observed: number | undefined, generation: number | undefined): string {
  if (observed === undefined) return 'none';
  return observed === generation ? 'current' : 'older';
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
