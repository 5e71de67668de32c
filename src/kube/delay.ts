import type { World } from './world.ts';

/** Resolves after that long, or as soon as the signal is aborted; `false` says that it was the signal. */
export function delay(world: World, milliseconds: number, signal?: AbortSignal): Promise<boolean> {
  if (signal?.aborted) return Promise.resolve(false);
  return new Promise((resolve) => {
    const aborted = (): void => {
      cancel();
      resolve(false);
    };
    const cancel = world.timer(milliseconds, () => {
      signal?.removeEventListener('abort', aborted);
      resolve(true);
    });
    signal?.addEventListener('abort', aborted, { once: true });
  });
}
