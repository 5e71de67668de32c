import { listOf, sentence, text, whole } from './schema.ts';

// The kinds of fields that several parts of the status of a MySQLRollout have.

export const mostMembers = 1000;
const longestMessage = 32_768;
const longestRevision = 253;

export const ordinal = whole(0, mostMembers - 1, 'The ordinal of the member.');
export const ordinals = (description: string) => listOf(ordinal, mostMembers, description);
export const name = (description: string) => text(253, description);
export const word = (description: string) => text(128, description);
/** A revision. The text may be empty, as in a StatefulSet that the StatefulSet controller has not observed yet. */
export const revision = (description: string) => sentence(longestRevision, description);
export const message = (description: string) => sentence(longestMessage, description);
