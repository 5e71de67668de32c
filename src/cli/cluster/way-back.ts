import type { RolloutProgress } from '../../api/rollout-progress.ts';
import { explainRefusedOpening, type MysqldFacts, opens, seriesOf, versionText } from '../../core/mysql-versions.ts';
import { versionOnVolume } from '../../core/mysqld-data.ts';
import { versionOfImage } from '../../moco/mysqld-version.ts';
import { mysqldContainer } from '../../moco/names.ts';
import type { PodRecord } from '../../moco/records.ts';

// What a downgrade of mysqld means for the data.

/** The mysqld images at a member's previous revision and at the update revision. */
interface Images {
  readonly before: string;
  readonly after: string;
}

/**
 * What a downgrade of mysqld means for a member's data. `sameImage`: the rollout does not change mysqld. `sameSeries`:
 * MySQL's manual supports the downgrade. `otherSeries`: it does not.
 */
export type WayBack =
  | { readonly kind: 'neverStarted' | 'sameImage' | 'unknown'; readonly images: Images | null }
  | { readonly kind: 'sameSeries' | 'otherSeries'; readonly images: Images };

/**
 * @param progress the rollout in progress, from the status
 * @param revisions the previous revision of the member, and the update revision
 * @param neverStarted whether mysqld has never run at the update revision
 */
export function wayBack(
  progress: RolloutProgress | undefined,
  { before, after }: { readonly before: string; readonly after: string },
  neverStarted: boolean,
): WayBack {
  // The recorded changes start from the previous revision of most members, so they apply only to members with this
  // previous revision.
  const changes = progress?.revision === after && progress.from === before ? progress.changes : undefined;
  const change = changes?.find(({ path }) => path === `spec.containers[${mysqldContainer}].image`);
  const images = change?.from && change.to ? { before: change.from, after: change.to } : null;
  if (neverStarted) return { kind: 'neverStarted', images };
  if (changes !== undefined && change === undefined) return { kind: 'sameImage', images };
  if (images === null) return { kind: 'unknown', images };
  const { allowed } = opens(versionOfImage(images.after), versionOfImage(images.before));
  if (allowed === null) return { kind: 'unknown', images };
  return { kind: allowed ? 'sameSeries' : 'otherSeries', images };
}

/** Whether the older mysqld might not start. */
export const isRisky = ({ kind }: WayBack): boolean => kind === 'otherSeries' || kind === 'unknown';

/**
 * Reasons why an earlier `mysqld` may be unable to open the data of some members, and the members for which `restore`
 * helps instead. Each reason is a sentence.
 */
export function dataAgainst(
  pods: readonly PodRecord[],
  { version: mysqld }: MysqldFacts,
  updateRevision: string,
  program: string,
): readonly string[] {
  if (mysqld === null) return [];
  const why = (pod: PodRecord): string | null => {
    const data = versionOnVolume(pod);
    return data === null ? null : explainRefusedOpening(data.version, mysqld.version);
  };
  const refused = [...Map.groupBy(pods, why)].filter(([reason]) => reason !== null);
  if (refused.length === 0) return [];
  const untouched = pods.filter(
    (pod) => pod.revision === updateRevision && !pod.ready && versionOnVolume(pod) === null,
  );
  return [
    ...refused.map(([reason, some]) => `WARNING: ${some.map(({ name }) => name).join(', ')}: ${reason}.`),
    'moco-rollout would hold that rollout (VersionRefused), and would leave these members as they are. Set an image that opens their data, or restore a backup into a new cluster.',
    ...untouched.map(
      ({ name, namespace }) =>
        `mysqld has not started in ${name}, so its data has not changed. To give only this member its revision back: ${program} restore ${name} -n ${namespace}`,
    ),
  ];
}

/** What the downgrade means, as a sentence without a full stop. */
export function explainWayBack({ kind, images }: WayBack): string {
  switch (kind) {
    case 'neverStarted':
      return 'safe: mysqld has not started at the update revision and has not changed the data';
    case 'sameImage':
      return 'safe: the update revision does not change the image of mysqld';
    case 'sameSeries':
      return `safe by MySQL's manual, even if mysqld has upgraded the data: both images are of series ${versionSeriesOf(images.after)}`;
    case 'otherSeries':
      return (
        `at risk: MySQL's manual does not support a downgrade from ${shortVersion(images.after)} to ${shortVersion(images.before)}. ` +
        'If mysqld has started at the update revision and upgraded the data, the older mysqld refuses to start on them'
      );
    case 'unknown':
      return (
        "unknown, because the versions of mysqld are not known. A downgrade within series 8.4 is safe by MySQL's manual. " +
        'Otherwise, if mysqld has upgraded the data, the older mysqld refuses to start on them'
      );
  }
}

function versionSeriesOf(image: string): string {
  const version = versionOfImage(image);
  return version === null ? image : seriesOf(version);
}

function shortVersion(image: string): string {
  const version = versionOfImage(image);
  return version === null ? image : versionText(version);
}
