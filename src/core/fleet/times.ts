// Times of a fleet are Unix seconds: they come from objects in the API server, so that every leader has the same.

/** As in the spec: `24h`, `1h30m`, `90s` as `1m30s`. */
export function durationText(seconds: number): string {
  const parts: readonly (readonly [number, string])[] = [
    [Math.floor(seconds / 3600), 'h'],
    [Math.floor((seconds % 3600) / 60), 'm'],
    [seconds % 60, 's'],
  ];
  return (
    parts
      .filter(([count]) => count > 0)
      .map(([count, unit]) => `${count}${unit}`)
      .join('') || '0s'
  );
}

/** RFC 3339 in UTC, in whole seconds, rounded up: at the moment that it names, the time has come. */
export function timeText(unixSeconds: number): string {
  return new Date(Math.ceil(unixSeconds) * 1000).toISOString().replace('.000Z', 'Z');
}
