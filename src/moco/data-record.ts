import { object, text } from '../base/json.ts';
import { parseMysqlVersion } from '../core/mysql-versions.ts';
import type { DataRecord } from '../core/snapshot.ts';
import { dataVolume } from './names.ts';

// The record of the newest mysqld that has started on the data of a member: an annotation on its claim. Anyone who may
// write claims in the namespace can write anything there.

/** A longer annotation is not read. A name has at most 253 characters, and the reference of an image about 500. */
const mostCharacters = 1024;

const revisionName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const imageReference = /^[\w][-\w.:/@]{0,511}$/;

/** The claim of a member's data. */
export const dataClaimOf = (podName: string): string => `${dataVolume}-${podName}`;

/**
 * `null` for a record that this program cannot have written: the mysqld of such data counts as unknown. Extra fields
 * are ignored.
 */
export function parseDataRecord(annotation: string | null): DataRecord | null {
  if (annotation === null || annotation.length > mostCharacters) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(annotation);
  } catch {
    return null;
  }
  const { revision, image, version } = object(parsed);
  const name = text(revision);
  if (name === null || !revisionName.test(name)) return null;
  const [reference, number] = [text(image), text(version)];
  return {
    revision: name,
    image: reference !== null && imageReference.test(reference) ? reference : null,
    version: number !== null && number.length < 32 && parseMysqlVersion(number) !== null ? number : null,
  };
}

/** In the format of `parseDataRecord`. */
export const dataRecordText = ({ revision, image, version }: DataRecord): string =>
  JSON.stringify({ revision, ...(image !== null && { image }), ...(version !== null && { version }) });

export const isSameRecord = (one: DataRecord | null, other: DataRecord): boolean =>
  one?.revision === other.revision && one.image === other.image && one.version === other.version;
