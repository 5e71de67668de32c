import type { RolloutStatus } from './rollout-resource.ts';

/** What of the status is read again, by this process or the next one: it fences a step, or says what was before. */
const remembered = [
  'intent',
  'rollout',
  'promotion',
  'handedBack',
  'recentRevisions',
  'effectivePolicy',
] as const satisfies (keyof RolloutStatus)[];

export type Remembered = Pick<RolloutStatus, (typeof remembered)[number]>;

export function rememberedOf(status: RolloutStatus): Remembered {
  const entries = remembered.flatMap((field) => (status[field] === undefined ? [] : [[field, status[field]]]));
  return Object.fromEntries(entries) as Remembered;
}

/** What is left of it for people. */
export function shownOf(status: RolloutStatus): RolloutStatus {
  const names: readonly string[] = remembered;
  return Object.fromEntries(Object.entries(status).filter(([field]) => !names.includes(field)));
}

/**
 * Which fields of what was sent are not in what the API server answers that it has. It leaves out what the CRD does not
 * know, without an error: so it is with the CRD of an older version. Paths such as `status.rollout.tries`, in order.
 */
export function fieldsNotKept(sent: RolloutStatus, kept: RolloutStatus | undefined): readonly string[] {
  return [...new Set(missing(asJson(rememberedOf(sent)), kept ?? {}, 'status'))].toSorted();
}

function missing(sent: unknown, kept: unknown, path: string): readonly string[] {
  if (Array.isArray(sent)) {
    return Array.isArray(kept) ? sent.flatMap((one, index) => missing(one, kept[index], path)) : [path];
  }
  if (typeof sent !== 'object' || sent === null) return sent === kept ? [] : [path];
  if (typeof kept !== 'object' || kept === null) return [path];
  const have = kept as Readonly<Record<string, unknown>>;
  return Object.entries(sent).flatMap(([field, value]) => missing(value, have[field], `${path}.${field}`));
}

/** As it goes over the wire: without what is undefined. */
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
