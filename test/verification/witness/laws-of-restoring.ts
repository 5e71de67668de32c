import { keepsRevisions } from './held-members.ts';
import type { Law } from './law.ts';
import { hasWorked } from './lost-members.ts';
import { isUpdated, participates } from './member.ts';
import type { Moment } from './moment.ts';

/** What must be so when an updated member is deleted to come back at the revision that it had. */
export const lawsOfRestoring: readonly Law[] = [
  {
    name: 'I24',
    sentence: 'a member was taken back that is not at the update revision',
    of: ['restore'],
    holds: ({ moment, target }) => isUpdated(moment, target),
  },
  {
    name: 'I24',
    sentence: 'a member was restored whose mysqld had started, and no user had asked for that',
    of: ['restore'],
    holds: ({ moment, target }) =>
      !participates(moment, target) && (!hasWorked(target) || isRequested(moment, target.ordinal)),
  },
  {
    name: 'I24',
    sentence: 'a member was taken back while new pods came up at the update revision',
    of: ['restore'],
    holds: ({ moment }) =>
      keepsRevisions(moment) &&
      moment.statefulSet?.status?.currentRevision !== moment.statefulSet?.status?.updateRevision,
  },
];

/** A person wants the member back at the revision that it had. */
export function isRequested({ settings }: Moment, ordinal: number): boolean {
  return settings?.spec?.restore?.ordinals?.includes(ordinal) ?? false;
}
