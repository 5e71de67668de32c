export interface Version {
  /** Such as `8.4`. */
  readonly series: string;
  /** `null` if the tag does not have it. */
  readonly patch: number | null;
}

/** From the tag of an image such as `ghcr.io/cybozu-go/moco/mysql:8.4.8.1`, or `null`. */
export function versionOf(image: string): Version | null {
  const tag = /:([^/@:]+)(?:@.*)?$/.exec(image)?.[1] ?? '';
  const [, series, patch] = /^v?(\d+\.\d+)(?:\.(\d+))?(?![\d])/.exec(tag) ?? [];
  return series === undefined ? null : { series, patch: patch === undefined ? null : Number(patch) };
}

/** Whether the version of an image is of this series or a later one; `null` if its tag does not say. */
export function isFrom(series: string, image: string): boolean | null {
  const version = versionOf(image);
  if (version === null) return null;
  const [major = 0, minor = 0] = version.series.split('.').map(Number);
  const [firstMajor = 0, firstMinor = 0] = series.split('.').map(Number);
  return major > firstMajor || (major === firstMajor && minor >= firstMinor);
}
