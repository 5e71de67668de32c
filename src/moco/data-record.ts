import { object, text } from '../base/json.ts';
import { parseMysqlVersion } from '../core/mysql-versions.ts';
import type { DataRecord } from '../core/snapshot.ts';
import { dataVolume, statefulSetName } from './names.ts';

// The record of the newest mysqld that has started on the data of a member: an annotation on its claim. A user who
// may write claims in the namespace can write anything there.

/** A longer annotation is ignored. A name has at most 253 characters, and the reference of an image about 500. */
const mostCharacters = 1024;

const revisionName = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;
const imageReference = /^[\w][-\w.:/@]{0,511}$/;

/** The claim of a member's data. */
export const dataClaimOf = (clusterName: string, ordinal: number): string =>
  `${dataVolume}-${statefulSetName(clusterName)}-${ordinal}`;

/**
 * `null` for a record that this program cannot have written. In that case it is unknown which mysqld has started on the
 * data. Extra fields are ignored.
 */
export function parseDataRecord(annotation: string | null): DataRecord | null {
  if (annotation === null || annotation.length > mostCharacters) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(annotation);
  } catch {
    return null;
  }
  const { revision, image, version, killed } = object(parsed);
  const name = text(revision);
  if (name === null || !revisionName.test(name)) return null;
  const [reference, number] = [text(image), text(version)];
  return {
    revision: name,
    image: reference !== null && imageReference.test(reference) ? reference : null,
    version: number !== null && number.length < 32 && parseMysqlVersion(number) !== null ? number : null,
    ...(killed === true && { killed }),
  };
}

/** The record as text, which `parseDataRecord` can read. */
export const dataRecordText = ({ revision, image, version, killed }: DataRecord): string =>
  JSON.stringify({
    revision,
    ...(image !== null && { image }),
    ...(version !== null && { version }),
    ...(killed && { killed }),
  });
