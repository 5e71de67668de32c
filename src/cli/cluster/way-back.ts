import type { RolloutProgress } from '../../api/rollout-status.ts';
import { supportsReturn, versionOfImage } from '../../core/mysql-versions.ts';
import { mysqldContainer } from '../../moco/names.ts';

/** The images of mysqld at the revision that a member had, and at the update revision. */
interface Images {
  readonly before: string;
  readonly after: string;
}

/**
 * What it means for the data of a member if its mysqld goes back. `sameImage`: the rollout does not change mysqld.
 * `sameSeries`: MySQL's manual supports it (8.4, "Downgrade Paths for MySQL Server"). `otherSeries`: it does not.
 */
export type WayBack =
  | { readonly kind: 'neverStarted' | 'sameImage' | 'unknown'; readonly images: Images | null }
  | { readonly kind: 'sameSeries' | 'otherSeries'; readonly images: Images };

/**
 * @param progress the rollout under way, as the status has it
 * @param revisions the revision that the member had, and the update revision
 * @param neverStarted mysqld has never run at the update revision
 */
export function wayBack(
  progress: RolloutProgress | undefined,
  { before, after }: { readonly before: string; readonly after: string },
  neverStarted: boolean,
): WayBack {
  // The changes are those from the revision that most members had.
  const changes = progress?.revision === after && progress.from === before ? progress.changes : undefined;
  const change = changes?.find(({ path }) => path === `spec.containers[${mysqldContainer}].image`);
  const images = change?.from && change.to ? { before: change.from, after: change.to } : null;
  if (neverStarted) return { kind: 'neverStarted', images };
  if (changes !== undefined && change === undefined) return { kind: 'sameImage', images };
  const versions = images && { before: versionOfImage(images.before), after: versionOfImage(images.after) };
  if (images === null || !versions?.before || !versions.after) return { kind: 'unknown', images };
  return { kind: supportsReturn(versions.before, versions.after) ? 'sameSeries' : 'otherSeries', images };
}

/** Whether nobody can be sure that the older mysqld starts. */
export const isRisky = ({ kind }: WayBack): boolean => kind === 'otherSeries' || kind === 'unknown';

/** What it means, as a sentence without a full stop. */
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
        `at risk: MySQL's manual supports no way back from ${shortVersion(images.after)} to ${shortVersion(images.before)}. ` +
        'If mysqld has started at the update revision and upgraded the data, the older mysqld refuses to start on them'
      );
    case 'unknown':
      return (
        "unknown, because the versions of mysqld are not known. Going back is safe by MySQL's manual within series 8.4. " +
        'Otherwise, if mysqld has upgraded the data, the older mysqld refuses to start on them'
      );
  }
}

const versionSeriesOf = (image: string): string => versionOfImage(image)?.series ?? image;

function shortVersion(image: string): string {
  const { series, patch } = versionOfImage(image) ?? { series: image, patch: null };
  return patch === null ? series : `${series}.${patch}`;
}

/** Whether the version of an image is of this series or a later one; `null` if its tag does not say. */
export function isFrom(series: string, image: string): boolean | null {
  const version = versionOfImage(image);
  if (version === null) return null;
  return version.series.localeCompare(series, 'en', { numeric: true }) >= 0;
}
