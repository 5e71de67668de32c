// Which mysqld may open which data. This table is the only place that knows MySQL's rules about versions; the
// holds of rollouts and the output of commands follow from it. Sources:
//
// - MySQL 8.4 and 9.7 Reference Manual, "Upgrade Paths" (table 3.1) and "Downgrade Paths for MySQL Server" (table 4.1)
// - MySQL 8.0 Reference Manual, "Downgrading MySQL": in place within 8.0 as of 8.0.35
// - MySQL 26.7 Reference Manual, "MySQL Releases: Innovation and LTS": calendar versions, and why their numbers do not
//   show which releases may follow each other
// - MySQL 8.0 Reference Manual, "Clone Plugin Limitations": within a series, and before 8.0.37 within a patch release
// - MySQL 8.4 Reference Manual, "Replication Compatibility Between MySQL Versions": from a source of an older series
//   only
// - MySQL 8.0 Reference Manual, "Redo Log": the format of the redo log changed in 8.0.30. The messages
//   of mysqld 9.7.4 describe which older logs it rejects

/** A release of mysqld. */
export interface MysqlVersion {
  readonly major: number;
  readonly minor: number;
  /** `null` if the patch release is not known, for example from the tag `8.4`. */
  readonly patch: number | null;
}

/** The sources from which a version can be known, the most reliable first. */
export const versionSources = {
  server: 'the running server',
  record: 'the record of the data',
  preflight: 'the preflight',
  tag: "the image's tag",
} as const;

export type VersionSource = keyof typeof versionSources;

/** A version such as `8.4.8`, and its source. */
export interface KnownVersion {
  readonly version: string;
  readonly source: VersionSource;
}

/** The mysqld of a pod, or of a pod template. */
export interface MysqldFacts {
  /** The image as the template names it; `null` if the template has no container mysqld. */
  readonly image: string | null;
  /** `null` if its version cannot be determined. */
  readonly version: KnownVersion | null;
}

/** A patch release has at most this many digits. */
const mostDigits = 3;

/**
 * Reads `8.4.8` or `8.4` at the beginning of a text such as `8.4.8-debian`. `null` if no such version of MySQL exists.
 */
export function parseMysqlVersion(text: string): MysqlVersion | null {
  const [, major = '', minor = '', patch] = /^v?(\d{1,2})\.(\d{1,2})(?:\.(\d+))?(?!\d)/.exec(text) ?? [];
  if (major === '' || (patch?.length ?? 0) > mostDigits) return null;
  const version = { major: Number(major), minor: Number(minor), patch: patch === undefined ? null : Number(patch) };
  return isReleased(version) ? version : null;
}

/**
 * Whether the series exists. 9.7 is the last series with a sequential number; 26.7 is the first that is named after its
 * year and month.
 */
function isReleased({ major, minor }: MysqlVersion): boolean {
  if (major < 26) return (major === 8 && minor <= 4) || (major === 9 && minor <= 7);
  return minor >= 1 && minor <= 12 && (major > 26 || minor >= 7);
}

export const isCalendarVersion = ({ major }: MysqlVersion): boolean => major >= 26;

/** The version as text: `8.4.8`, or `8.4` if the patch release is not known. */
export const versionText = ({ major, minor, patch }: MysqlVersion): string =>
  patch === null ? `${major}.${minor}` : `${major}.${minor}.${patch}`;

/** The series as text, such as `8.4`. */
export const seriesOf = ({ major, minor }: MysqlVersion): string => `${major}.${minor}`;

/** Negative if the series of `one` is the earlier one, 0 if both are the same. */
const orderOfSeries = (one: MysqlVersion, other: MysqlVersion): number =>
  one.major - other.major || one.minor - other.minor;

/** Series with long-term support or only bug fixes, in order. An upgrade must not skip any of them. */
const lasting = ['8.0', '8.4', '9.7'] as const;
/** Within these series mysqld can go back to any patch release. */
const longTerm: ReadonlySet<string> = new Set(['8.4', '9.7']);
/** Within 8.0 mysqld can go back to this patch release, but no further. */
const oldestPatchBackIn80 = 35;
/** From this release on, the patch releases of 8.0 can clone each other. */
const firstCloningPatchIn80 = 37;
/** The format of the redo log has not changed since this release. */
const firstPatchOfRedoLogIn80 = 30;

/** Whether a mysqld may open some data. `allowed` is `null` if the versions alone do not show it. */
export type Opening =
  | { readonly allowed: true; readonly because: 'sameRelease' | 'later' | 'earlierPatch' }
  | {
      readonly allowed: false;
      readonly because: 'olderSeries' | 'olderPatch' | 'skipsSeries';
      /** For `skipsSeries`: the series that must not be skipped. Otherwise `null`. */
      readonly first: string | null;
    }
  | { readonly allowed: null; readonly because: 'unknown' };

const unknown: Opening = { allowed: null, because: 'unknown' };
const refused = (because: Extract<Opening, { allowed: false }>['because'], first: string | null = null): Opening => ({
  allowed: false,
  because,
  first,
});

/**
 * Whether `mysqld` may start on data that `data`, the newest mysqld so far, has opened.
 *
 * @param data `null` if it is not known
 * @param mysqld `null` if it is not known
 */
export function opens(data: MysqlVersion | null, mysqld: MysqlVersion | null): Opening {
  if (data === null || mysqld === null) return unknown;
  const order = orderOfSeries(data, mysqld);
  if (order > 0) return refused('olderSeries');
  return order < 0 ? opensNext(data, mysqld) : opensWithin(data, mysqld);
}

function opensWithin(data: MysqlVersion, mysqld: MysqlVersion): Opening {
  const series = seriesOf(data);
  if (data.patch === null || mysqld.patch === null) {
    return longTerm.has(series) ? { allowed: true, because: 'earlierPatch' } : unknown;
  }
  if (data.patch === mysqld.patch) return { allowed: true, because: 'sameRelease' };
  if (data.patch < mysqld.patch) return { allowed: true, because: 'later' };
  if (longTerm.has(series) || (series === '8.0' && mysqld.patch >= oldestPatchBackIn80)) {
    return { allowed: true, because: 'earlierPatch' };
  }
  // Only a long-term support release can go back, and a calendar version does not say whether it is one.
  return isCalendarVersion(data) ? unknown : refused('olderPatch');
}

/** An upgrade may go as far as the next series with long-term support. That also holds for an innovation release. */
function opensNext(data: MysqlVersion, mysqld: MysqlVersion): Opening {
  if (isCalendarVersion(data)) return unknown;
  const next = lasting.find((series) => isBefore(data, series));
  // The version numbers of releases after the last series above do not show which releases may follow each other.
  if (next === undefined) return unknown;
  return isBefore(mysqld, next) || seriesOf(mysqld) === next
    ? { allowed: true, because: 'later' }
    : refused('skipsSeries', next);
}

function isBefore({ major, minor }: MysqlVersion, series: string): boolean {
  const [otherMajor = 0, otherMinor = 0] = series.split('.').map(Number);
  return major < otherMajor || (major === otherMajor && minor < otherMinor);
}

/**
 * Whether `recipient` can be cloned from `donor`; `null` if the versions alone do not show it. Cloning is the only way
 * in which a replica with an empty volume gets its data back.
 */
export function clones(donor: MysqlVersion | null, recipient: MysqlVersion | null): boolean | null {
  if (donor === null || recipient === null) return null;
  if (seriesOf(donor) !== seriesOf(recipient)) return false;
  if (seriesOf(donor) !== '8.0' || donor.patch === recipient.patch) return true;
  if (donor.patch === null || recipient.patch === null) return null;
  return Math.min(donor.patch, recipient.patch) >= firstCloningPatchIn80;
}

/** Whether a version is known to be earlier than the other one. */
export function isEarlier(one: MysqlVersion | null, other: MysqlVersion | null): boolean {
  if (one === null || other === null) return false;
  const order = orderOfSeries(one, other);
  return order < 0 || (order === 0 && one.patch !== null && other.patch !== null && one.patch < other.patch);
}

const byNumbers = new Intl.Collator('en', { numeric: true });

/** The versions that are known, the oldest first. */
export const sortedVersions = (mysqlds: readonly (KnownVersion | null)[]): readonly string[] =>
  mysqlds
    .flatMap((known) => (known === null ? [] : [known.version]))
    .toSorted((one, other) => byNumbers.compare(one, other));

/**
 * Whether a `replica` may replicate from `source`: MySQL does not support a source of a newer series. `null` if a
 * version is not known.
 */
export function replicates(source: MysqlVersion | null, replica: MysqlVersion | null): boolean | null {
  if (source === null || replica === null) return null;
  return orderOfSeries(source, replica) <= 0;
}

/**
 * Whether `mysqld` can recover data if `data`, the mysqld that wrote the redo log, did not close it cleanly. A mysqld
 * only reads logs of its own format. The format has not changed from 8.0.30 to 9.7.4; the messages of 9.7.4 call every
 * other format "created before MySQL 8.0.30".
 */
export function recovers(data: MysqlVersion | null, mysqld: MysqlVersion | null): boolean | null {
  if (data === null || mysqld === null) return null;
  if (seriesOf(data) === seriesOf(mysqld) && data.patch !== null && data.patch === mysqld.patch) return true;
  if (isCalendarVersion(mysqld)) return null;
  const [before, after] = [data, mysqld].map(hasNewestRedoLog);
  return before === null || after === null ? null : before === true && after === true;
}

function hasNewestRedoLog(version: MysqlVersion): boolean | null {
  if (seriesOf(version) !== '8.0') return true;
  return version.patch === null ? null : version.patch >= firstPatchOfRedoLogIn80;
}

/** Why `mysqld` does not start on the data, as a sentence without a full stop. */
export function explainRefusedOpening(data: string, mysqld: string): string | null {
  const [before, after] = [parseMysqlVersion(data), parseMysqlVersion(mysqld)];
  const opening = opens(before, after);
  if (opening.allowed !== false || before === null) return null;
  const refuses = `mysqld ${mysqld} refuses data that mysqld ${data} has opened`;
  switch (opening.because) {
    case 'olderSeries':
      return `${refuses}: MySQL does not support downgrades to an older series`;
    case 'olderPatch':
      return seriesOf(before) === '8.0'
        ? `${refuses}: MySQL does not support downgrades within 8.0 to a release before 8.0.${oldestPatchBackIn80}`
        : `${refuses}: MySQL does not support downgrades within the innovation series ${seriesOf(before)}`;
    case 'skipsSeries':
      return `${refuses}: MySQL does not support upgrades that skip a series, so upgrade to ${opening.first} first`;
  }
}
