// Which mysqld may open the data of which other one, by MySQL's manual (8.4 and 9.x, "Upgrade Paths" and "Downgrade
// Paths for MySQL Server").

/** Long-term support: within one of these series mysqld may go back to any release. */
const longTermSeries: ReadonlySet<string> = new Set(['8.4', '9.7']);

/** Within 8.0 it may go back to this patch release, and to none before. */
const oldestPatchOf80 = 35;

export interface MysqlVersion {
  /** Such as `8.4`. */
  readonly series: string;
  /** `null` if it is not known. */
  readonly patch: number | null;
}

/** Of a text such as `8.4.8`, `8.4.8-debian` or `8.4`; `null` of any other. */
export function parseVersion(text: string): MysqlVersion | null {
  const [, series, patch] = /^v?(\d{1,3}\.\d{1,3})(?:\.(\d{1,3}))?(?!\d)/.exec(text) ?? [];
  return series === undefined ? null : { series, patch: patch === undefined ? null : Number(patch) };
}

/** Of the tag of an image such as `ghcr.io/cybozu-go/moco/mysql:8.4.8.1`, or `null`. */
export function versionOfImage(image: string): MysqlVersion | null {
  const [name = ''] = image.split('@', 1);
  return parseVersion(/^[^/:]+:([^/:]+)$/.exec(name.slice(name.lastIndexOf('/') + 1))?.[1] ?? '');
}

/** MySQL supports that a mysqld of the version `before` opens the data of one of the version `after`. */
export function supportsReturn(before: MysqlVersion, after: MysqlVersion): boolean {
  if (before.series !== after.series) return false;
  if (longTermSeries.has(before.series)) return true;
  if (before.patch === null || after.patch === null) return false;
  return before.patch >= after.patch || (before.series === '8.0' && before.patch >= oldestPatchOf80);
}

/** The same of texts. Not if one is not known. */
export function mayReturn(before: string | null, after: string | null): boolean {
  const [one, other] = [before, after].map((text) => (text === null ? null : parseVersion(text)));
  return one !== null && other !== null && one !== undefined && other !== undefined && supportsReturn(one, other);
}
